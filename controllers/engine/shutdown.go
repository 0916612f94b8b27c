package engine

import (
	"context"
	"errors"
	"time"
)

// shutdownGrace is how long a running pass may continue when the operator is stopped: most finish in time, and leave
// nothing half done. The next leader waits for it.
const shutdownGrace = 3 * time.Second

// withShutdownGrace returns a context that ends shutdownGrace after the operator was stopped, but not after ctx's
// deadline.
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
