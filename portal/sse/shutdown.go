package sse

import (
	"context"
	"math/rand/v2"
	"time"
)

// leaving says that a request's server is shutting down.
type leaving struct {
	begun  context.Context // ends when the server begins to leave
	within time.Duration   // how long it continues to serve after that
}

type leavingKey struct{}

// WithLeaving returns a context for the requests of a server whose shutdown begins when begun ends, and that serves for
// some time after that. Streams end in the second half of that time, spread out: their clients reconnect at once, and
// are then routed to other replicas.
func WithLeaving(ctx, begun context.Context, within time.Duration) context.Context {
	return context.WithValue(ctx, leavingKey{}, leaving{begun, within})
}

// Leaving reports whether the request's server is shutting down.
func Leaving(ctx context.Context) bool {
	l, ok := ctx.Value(leavingKey{}).(leaving)
	return ok && l.begun.Err() != nil
}

// untilLeft returns a context that ends when a stream must end because of the shutdown.
func untilLeft(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(ctx)
	l, ok := ctx.Value(leavingKey{}).(leaving)
	if !ok {
		return out, cancel
	}
	if l.begun.Err() != nil {
		cancel() // a late stream sends its first message only
		return out, cancel
	}
	stop := context.AfterFunc(l.begun, func() {
		time.AfterFunc(l.within/2+time.Duration(rand.Float64()*float64(l.within/2)), cancel) //nolint:gosec // no secret
	})
	return out, func() { stop(); cancel() }
}
