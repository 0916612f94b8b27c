package cloud

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/portico-platform/portico/controllers/engine"
)

// waits returns how long n calls wait for their turns, one after the other.
func waits(t *testing.T, l *limiter, ctx context.Context, n int) time.Duration { //nolint:revive // the context is what is tested
	t.Helper()
	start := time.Now()
	for range n {
		if err := l.wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(start)
}

func TestAPaceHoldsItsRateAfterABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newLimiter(10, time.Now())
		if took := waits(t, p, t.Context(), 20); took != 0 {
			t.Errorf("two seconds' worth of calls waited %s", took)
		}
		if took := waits(t, p, t.Context(), 100); took < 9*time.Second {
			t.Errorf("100 calls at 10 a second took %s", took)
		}
	})
}

func TestRoutineWorkLeavesRoomForUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newLimiter(10, time.Now())
		routine, stop := context.WithCancel(engine.WithRoutine(t.Context(), true))
		var calls atomic.Int64
		for range 5 { // more than its burst
			go func() {
				for ok := true; ok; ok = p.wait(routine) == nil {
					calls.Add(1)
				}
			}()
		}
		time.Sleep(time.Minute) // its credit is used up
		if n := calls.Load(); n < 300 || n > 320 {
			t.Errorf("routine work made %d calls in a minute, want half of 600, and its burst", n)
		}
		if took := waits(t, p, t.Context(), 20); took > 5*time.Second {
			t.Errorf("20 calls for users waited %s behind routine work", took)
		}
		stop()
	})
}

func TestThrottlingLowersTheRateAndQuietRaisesIt(t *testing.T) {
	p := newLimiter(100, time.Unix(0, 0))
	now := time.Unix(0, 0)
	answer := func(throttled, calls int) {
		for i := range calls {
			now = now.Add(time.Second/time.Duration(calls) + time.Microsecond)
			p.answered(i < throttled, now)
		}
	}
	answer(30, 30)
	if got := p.all.Limit(); got > 60 {
		t.Errorf("after a second of nothing but throttling the rate is %g", float64(got))
	}
	for range 60 {
		answer(10, 10)
	}
	if got := p.all.Limit(); got < 10 || got > 10.1 {
		t.Errorf("the rate went to %g, want no lower than a tenth", float64(got))
	}
	if got := p.routine.Limit(); got < 5 || got > 5.1 {
		t.Errorf("routine work has %g a second, want half", float64(got))
	}
	for range 30 {
		answer(3, 10)
	}
	if got := p.all.Limit(); got < 25 || got > 50 {
		t.Errorf("with 30%% throttled the rate is %g, want about a third", float64(got))
	}
	for range 30 {
		answer(0, 10)
	}
	if got := p.all.Limit(); got != 100 {
		t.Errorf("after half a minute of quiet the rate is %g", float64(got))
	}
}

func TestNoTurnInTimeIsNoFailureOfAWS(t *testing.T) {
	p := newLimiter(rate.Limit(0.001), time.Now())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := p.wait(ctx); err != nil {
		t.Fatal(err)
	}
	err := p.wait(ctx)
	if !errors.Is(err, errRateLimited) {
		t.Fatalf("got %v", err)
	}
	if wait, ok := engine.AsWait(Explain(err)); !ok || wait.Stalled || wait.Reason != "Throttled" {
		t.Errorf("explained as %v", Explain(err))
	}
}

func TestPacesAreByAccountRegionAndService(t *testing.T) {
	now := time.Unix(1000, 0)
	paces := &Limiters{Rates: Rates{"S3": 7, "": 3}, Now: func() time.Time { return now }}
	a := paces.of(limiterKey{"1", "eu", "S3"})
	if a != paces.of(limiterKey{"1", "eu", "S3"}) || a == paces.of(limiterKey{"2", "eu", "S3"}) {
		t.Error("want a limiter for each account, region and service")
	}
	if other := paces.of(limiterKey{"1", "eu", "KMS"}); a.most != 7 || other.most != 3 {
		t.Errorf("rates = %v, %v, want 7, 3", a.most, other.most)
	}
	a.answered(true, now)
	if got := paces.Throttled("1"); len(got) != 1 || got[0] != "S3 in eu" {
		t.Errorf("throttled: %v", got)
	}
	if got := paces.Throttled("2"); len(got) != 0 {
		t.Errorf("another account is throttled: %v", got)
	}
	now = now.Add(throttledFor + time.Second)
	if got := paces.Throttled("1"); len(got) != 0 {
		t.Errorf("still throttled after a time of quiet: %v", got)
	}
}
