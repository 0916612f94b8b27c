package page

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPageLooksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := make(chan struct{})
		out := Again(t.Context(), changed)
		signalled := func() bool {
			synctest.Wait()
			select {
			case <-out:
				return true
			default:
				return false
			}
		}
		changed <- struct{}{}
		if !signalled() || signalled() {
			t.Error("a change is one signal")
		}
		time.Sleep(afterChange)
		if !signalled() {
			t.Error("no second look after a change")
		}
		time.Sleep(AtRest - time.Second)
		if signalled() {
			t.Error("looks too often at rest")
		}
		time.Sleep(time.Second)
		if !signalled() {
			t.Error("no look at rest")
		}
	})
}

// TestSignalsArePaced: constant changes do not cause constant rendering.
func TestSignalsArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		changed := make(chan struct{})
		out := Paced(ctx, changed)
		got := 0
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-out:
					got++
				}
			}
		}()
		for range 100 {
			changed <- struct{}{}
			time.Sleep(100 * time.Millisecond)
		}
		cancel()
		synctest.Wait()
		if got < 4 || got > 6 {
			t.Errorf("10 s of changes make %d renderings, want one every 2 s", got)
		}
	})
}
