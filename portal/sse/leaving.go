package sse

import (
	"context"
	"math/rand/v2"
	"time"
)

// leaving says that the server of a request is about to end.
type leaving struct {
	begun  context.Context // ends when the server begins to leave
	within time.Duration   // how long it goes on answering after that
}

type leavingKey struct{}

// WithLeaving returns a context for the requests of a server that begins to leave when begun ends, and answers for some
// time after that. Streams end in the second half of that time, each at a moment of its own: their clients come back at
// once, and by then are sent to other replicas.
func WithLeaving(ctx, begun context.Context, within time.Duration) context.Context {
	return context.WithValue(ctx, leavingKey{}, leaving{begun, within})
}

// Leaving reports whether the server of the request is about to end.
func Leaving(ctx context.Context) bool {
	l, ok := ctx.Value(leavingKey{}).(leaving)
	return ok && l.begun.Err() != nil
}

// untilLeft returns a context that ends when a stream of a server that leaves is to end.
func untilLeft(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(ctx)
	l, ok := ctx.Value(leavingKey{}).(leaving)
	if !ok {
		return out, cancel
	}
	if l.begun.Err() != nil {
		cancel() // it came too late, and is told what there is
		return out, cancel
	}
	stop := context.AfterFunc(l.begun, func() {
		time.AfterFunc(l.within/2+time.Duration(rand.Float64()*float64(l.within/2)), cancel) //nolint:gosec // no secret
	})
	return out, func() { stop(); cancel() }
}
