// Package limit limits the request rate of each caller.
package limit

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/expiring"
)

// Rate is the request rate of each caller. Streams count when they begin.
type Rate struct {
	PerSecond float64 // requests; 0 is no limit
	Burst     int     // at once
}

// maxCallers bounds the cached callers: a dropped caller starts with a full bucket.
const maxCallers = 10_000

// Limiter limits requests by caller. An idle caller's bucket is full again after full, so it counts for that long; its
// memory is freed when another caller needs it. A Limiter is safe for concurrent use; nil does not limit.
type Limiter struct {
	rate    Rate
	clock   clock.PassiveClock
	full    time.Duration // time to fill an empty bucket
	mu      sync.Mutex
	callers *expiring.Cache[string, *rate.Limiter]
}

// New returns a Limiter without callers.
func New(r Rate, c clock.PassiveClock) *Limiter {
	if r.PerSecond <= 0 {
		return nil
	}
	full := time.Duration(float64(r.Burst) / r.PerSecond * float64(time.Second))
	return &Limiter{rate: r, clock: c, full: full, callers: expiring.New[string, *rate.Limiter](maxCallers, c.Now)}
}

// Wait takes a request from the caller's bucket and returns 0, or returns how long to wait and takes nothing. A caller
// without a name never waits.
func (l *Limiter) Wait(caller string) time.Duration {
	if l == nil || caller == "" {
		return 0
	}
	now := l.clock.Now()
	wanted := l.of(caller).ReserveN(now, 1)
	wait := wanted.DelayFrom(now)
	if wait > 0 {
		wanted.CancelAt(now)
	}
	return wait
}

// Each limits requests by the caller that caller returns. For a limited request it sets Retry-After and calls refuse.
func (l *Limiter) Each(caller func(*http.Request) string, refuse http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if wait := l.Wait(caller(r)); wait > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
				refuse(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// of returns the limiter of a caller. Concurrent requests of one caller get the same one.
func (l *Limiter) of(name string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.callers.Get(name)
	if !ok {
		known = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
	}
	l.callers.Put(name, known, l.full)
	return known
}
