package engine

import "context"

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
