package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPassMayFinish(t *testing.T) {
	for name, c := range map[string]struct {
		asked, deadline time.Duration // after the start; 0: never
		ends            time.Duration
		err             error
	}{
		"asked to end":                   {time.Second, time.Minute, time.Second + shutdownGrace, context.Canceled},
		"asked to end, without deadline": {time.Second, 0, time.Second + shutdownGrace, context.Canceled},
		"out of time":                    {0, 10 * time.Second, 10 * time.Second, context.DeadlineExceeded},
		"asked, then out of time":        {9 * time.Second, 10 * time.Second, 10 * time.Second, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.deadline > 0 {
					bounded, free := context.WithTimeout(ctx, c.deadline)
					defer free()
					ctx = bounded
				}
				if c.asked > 0 {
					time.AfterFunc(c.asked, cancel)
				}
				began := time.Now()
				out, done := withShutdownGrace(ctx)
				defer done()
				<-out.Done()
				if took := time.Since(began); took != c.ends || !errors.Is(out.Err(), c.err) {
					t.Errorf("it ended after %s: %v, want %s: %v", took, out.Err(), c.ends, c.err)
				}
			})
		})
	}
}
