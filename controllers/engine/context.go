package engine

import (
	"context"
	"time"
)

type routineKey struct{}

// WithRoutine returns a context that says whether the work under it is routine: nobody waits for it, and nothing is
// known to have changed. Routine work is limited to a share of the rate of calls, and may use states that are some
// minutes old.
func WithRoutine(ctx context.Context, routine bool) context.Context {
	return context.WithValue(ctx, routineKey{}, routine)
}

// IsRoutine reports what WithRoutine said; without it, no.
func IsRoutine(ctx context.Context) bool {
	routine, _ := ctx.Value(routineKey{}).(bool)
	return routine
}

type auditKey struct{}

// WithAudit returns a context that says whether the work under it is an audit: it compares also what costs a call of
// its own and is as it should be nearly always.
func WithAudit(ctx context.Context, audit bool) context.Context {
	return context.WithValue(ctx, auditKey{}, audit)
}

// IsAudit reports what WithAudit said; without it, no.
func IsAudit(ctx context.Context) bool {
	audit, _ := ctx.Value(auditKey{}).(bool)
	return audit
}

type lastObservedKey struct{}

// withLastObserved notes when the object was last looked at for other than routine reasons.
func withLastObserved(ctx context.Context, look time.Time) context.Context {
	return context.WithValue(ctx, lastObservedKey{}, look)
}

// LastObserved returns when the object under work was last observed live: an older state would take its status back in
// time. The zero time, if that is not known.
func LastObserved(ctx context.Context) time.Time {
	look, _ := ctx.Value(lastObservedKey{}).(time.Time)
	return look
}
