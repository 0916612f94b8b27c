package engine

import (
	"context"
	"time"
)

type routineKey struct{}

// Routine says whether the work under ctx is routine: nobody waits for it, nothing is known to have changed. Routine
// work takes the slow lane everywhere, and may look at pictures that are some minutes old.
func Routine(ctx context.Context, routine bool) context.Context {
	return context.WithValue(ctx, routineKey{}, routine)
}

// IsRoutine tells what Routine said; without it, no.
func IsRoutine(ctx context.Context) bool {
	routine, _ := ctx.Value(routineKey{}).(bool)
	return routine
}

type lastLookKey struct{}

// since notes when the object was last looked at for other than routine reasons.
func since(ctx context.Context, look time.Time) context.Context {
	return context.WithValue(ctx, lastLookKey{}, look)
}

// LastLook is when the object under work was last looked at live: an older picture would take its status back in time.
// The zero time, if that is not known.
func LastLook(ctx context.Context) time.Time {
	look, _ := ctx.Value(lastLookKey{}).(time.Time)
	return look
}
