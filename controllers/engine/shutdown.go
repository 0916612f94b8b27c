package engine

import (
	"context"
	"errors"
	"time"
)

// shutdownGrace is how long a pass that has begun may go on when the operator is asked to end: most end within it, and
// leave nothing half done. The next leader waits for them.
const shutdownGrace = 3 * time.Second

// withShutdownGrace returns a context that ends some time after the operator was asked to end, but not after ctx's own
// time is over. What begins too late does not outlive it.
func withShutdownGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() != nil {
		return ctx, func() {}
	}
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	release := func() { cancel(context.Canceled) }
	if deadline, ok := ctx.Deadline(); ok {
		bounded, free := context.WithDeadline(own, deadline)
		own, release = bounded, func() { free(); cancel(context.Canceled) }
	}
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			time.AfterFunc(shutdownGrace, func() { cancel(context.Cause(ctx)) })
		}
	})
	return own, func() { stop(); release() }
}
