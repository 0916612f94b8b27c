package engine

import (
	"context"
	"time"
)

type routineKey struct{}

// WithRoutine returns a context that marks the work as routine or not: nobody waits for routine work, and nothing is
// known to have changed. It is limited to a share of the call rate, and may use states that are some minutes old.
func WithRoutine(ctx context.Context, routine bool) context.Context {
	return context.WithValue(ctx, routineKey{}, routine)
}

// IsRoutine returns the value of WithRoutine, false without it.
func IsRoutine(ctx context.Context) bool {
	routine, _ := ctx.Value(routineKey{}).(bool)
	return routine
}

type auditKey struct{}

// WithAudit returns a context that marks the work as an audit or not: an audit also compares what costs an extra call
// and is almost always right.
func WithAudit(ctx context.Context, audit bool) context.Context {
	return context.WithValue(ctx, auditKey{}, audit)
}

// IsAudit returns the value of WithAudit, false without it.
func IsAudit(ctx context.Context) bool {
	audit, _ := ctx.Value(auditKey{}).(bool)
	return audit
}

type lastObservedKey struct{}

// withLastObserved returns a context with the time of the object's last non-routine observation.
func withLastObserved(ctx context.Context, look time.Time) context.Context {
	return context.WithValue(ctx, lastObservedKey{}, look)
}

// LastObserved returns when the object was last observed live; an older state would set its status back. Zero if not
// known.
func LastObserved(ctx context.Context) time.Time {
	look, _ := ctx.Value(lastObservedKey{}).(time.Time)
	return look
}
