// Package limit keeps each caller to so many requests a second.
package limit

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
)

// Rate is how much each caller may ask for. Streams count when they begin.
type Rate struct {
	PerSecond float64 // requests; 0 is no limit
	Burst     int     // at once
}

// maxCallers bounds the callers whose rate is known: whoever is forgotten starts with a full rate.
const maxCallers = 10_000

// Limiter counts the requests of callers: those who asked lately, in two generations. Who has not asked for as long as
// a whole burst takes to come back has it all again, as if new: when the young generation is that old, or full, the old
// one goes. It is safe for concurrent use; nil limits nobody.
type Limiter struct {
	rate  Rate
	clock clock.PassiveClock
	full  time.Duration // after which nothing is known of a caller that a new limiter does not know

	mu         sync.Mutex
	young, old map[string]*rate.Limiter // by caller
	born       time.Time                // of the young generation
}

// New makes a Limiter of nobody's requests yet.
func New(r Rate, c clock.PassiveClock) *Limiter {
	if r.PerSecond <= 0 {
		return nil
	}
	full := time.Duration(float64(r.Burst) / r.PerSecond * float64(time.Second))
	return &Limiter{rate: r, clock: c, full: full, young: map[string]*rate.Limiter{}, born: c.Now()}
}

// Wait counts a request of the caller; it is 0 if it may go on, else how long to wait, and nothing is counted. A caller
// without a name, of whom nothing is known, never waits.
func (l *Limiter) Wait(caller string) time.Duration {
	if l == nil || caller == "" {
		return 0
	}
	now := l.clock.Now()
	wanted := l.of(caller, now).ReserveN(now, 1)
	wait := wanted.DelayFrom(now)
	if wait > 0 {
		wanted.CancelAt(now)
	}
	return wait
}

// Each limits requests by what caller returns for them. Those that must wait are answered by refuse, after Retry-After
// is set.
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
func (l *Limiter) of(name string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.born) >= l.full || len(l.young) >= maxCallers/2 {
		l.young, l.old, l.born = map[string]*rate.Limiter{}, l.young, now
	}
	for _, known := range []*rate.Limiter{l.young[name], l.old[name]} {
		if known != nil {
			l.young[name] = known
			return known
		}
	}
	fresh := rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
	l.young[name] = fresh
	return fresh
}
