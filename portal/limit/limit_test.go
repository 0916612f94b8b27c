package limit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestOneCallerDoesNotSlowAnother(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	l := New(Rate{PerSecond: 0.5, Burst: 1}, clock)
	for _, name := range []string{"a", "b"} {
		if wait := l.Wait(name); wait != 0 {
			t.Errorf("%s waits %s", name, wait)
		}
		if wait := l.Wait(name); wait != 2*time.Second {
			t.Errorf("%s waits %s the second time", name, wait)
		}
	}
	clock.SetTime(clock.Now().Add(2 * time.Second)) // the refusal has not counted
	if wait := l.Wait("a"); wait != 0 {
		t.Errorf("after that time: %s", wait)
	}
	for range 3 {
		for name, wait := range map[string]time.Duration{
			"a caller of whom nothing is known": l.Wait(""), "no limiter": (*Limiter)(nil).Wait("a"),
			"no limit": New(Rate{}, clock).Wait("a"),
		} {
			if wait != 0 {
				t.Errorf("%s waits %s, want not at all", name, wait)
			}
		}
	}
}

func TestWhoMustWaitIsToldHowLong(t *testing.T) {
	l := New(Rate{PerSecond: 0.4, Burst: 1}, clocktesting.NewFakePassiveClock(time.Now()))
	h := l.Each(func(r *http.Request) string { return r.URL.Path }, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
	})(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, want := range []string{"", "3"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/a", http.NoBody))
		if got := w.Header().Get("Retry-After"); got != want || (w.Code == http.StatusTooManyRequests) != (want != "") {
			t.Errorf("%d, Retry-After %q, want %q", w.Code, got, want)
		}
	}
}

// TestTheFirstRequestsOfACallerShareOneLimit, however close together they come.
func TestTheFirstRequestsOfACallerShareOneLimit(t *testing.T) {
	l := New(Rate{PerSecond: 1, Burst: 1}, clocktesting.NewFakePassiveClock(time.Now()))
	const atOnce = 8
	for n := range 5000 {
		name := fmt.Sprintf("caller-%d", n)
		var passed atomic.Int32
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range atOnce {
			all.Go(func() {
				<-begin
				if l.Wait(name) == 0 {
					passed.Add(1)
				}
			})
		}
		close(begin)
		all.Wait()
		if passed.Load() != 1 {
			t.Fatalf("%d of %d requests of %s pass at once, want 1", passed.Load(), atOnce, name)
		}
	}
}

func TestCallersWhoWentAwayAreForgotten(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	all := New(Rate{PerSecond: 1, Burst: 4}, clock)
	held := func(asked int) (n int) {
		for i := range asked {
			if _, ok := all.callers.Get(fmt.Sprint(i)); ok {
				n++
			}
		}
		return n
	}
	busy := all.of("busy")
	for n := range 100 {
		all.of(fmt.Sprint(n))
	}
	for range 8 { // for twice as long as a burst takes
		clock.SetTime(clock.Now().Add(time.Second))
		if all.of("busy") != busy {
			t.Error("one who goes on asking begins again")
		}
	}
	if n := held(100); n > 0 {
		t.Errorf("%d limiters are held of callers who went away", n)
	}
	for n := range 3 * maxCallers {
		all.of(fmt.Sprint(n))
	}
	if n := held(3 * maxCallers); n > maxCallers {
		t.Errorf("%d limiters are held, want %d at most", n, maxCallers)
	}
}
