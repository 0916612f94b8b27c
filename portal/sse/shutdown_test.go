package sse

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestStreamsEndWhileTheServerLeaves: clients reconnect at once, so streams end one after another, and only after new
// requests are routed to other replicas.
func TestStreamsEndWhileTheServerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const within, streams = 10 * time.Second, 50
		begun, leave := context.WithCancel(t.Context())
		ctx := WithLeaving(t.Context(), begun, within)
		ends := make(chan time.Duration, streams)
		var left time.Time
		for range streams {
			go func() {
				out, cancel := untilLeft(ctx)
				defer cancel()
				<-out.Done()
				ends <- time.Since(left)
			}()
		}
		time.Sleep(time.Hour)
		if len(ends) > 0 || Leaving(ctx) {
			t.Fatal("a stream has ended before")
		}
		left = time.Now()
		leave()
		if !Leaving(ctx) {
			t.Error("the server is not said to leave")
		}
		moments := map[time.Duration]bool{}
		for range streams {
			took := <-ends
			if took < within/2 || took > within {
				t.Errorf("a stream ended after %s", took)
			}
			moments[took] = true
		}
		if len(moments) < streams/2 {
			t.Errorf("%d streams ended at %d moments", streams, len(moments))
		}
	})
}

func TestAStreamThatBeginsWhileTheServerLeavesEndsAtOnce(t *testing.T) {
	begun, leave := context.WithCancel(t.Context())
	leave()
	out, done := untilLeft(WithLeaving(t.Context(), begun, time.Hour))
	defer done()
	if out.Err() == nil {
		t.Error("it goes on")
	}
}

func TestAStreamWithoutServerEndsWithItsRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, done := untilLeft(ctx)
	defer done()
	if cancel(); out.Err() == nil || Leaving(ctx) {
		t.Errorf("%v, leaving %v", out.Err(), Leaving(ctx))
	}
}
