package rest

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
)

// Limits are how much each caller may ask for. Streams count when they begin.
type Limits struct {
	PerSecond float64 // requests; 0 is no limit
	Burst     int     // at once
	Clock     clock.PassiveClock
}

// maxLimited bounds the callers whose rate is known: whoever is forgotten begins anew.
const maxLimited = 10_000

// limit answers 429 to callers that ask too often.
func (l Limits) limit(next http.Handler) http.Handler {
	if l.PerSecond <= 0 {
		return next
	}
	callers := newLimiters(l)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := l.Clock.Now()
		wanted := callers.of(caller(r.Context()).Username, now).ReserveN(now, 1)
		if wait := wanted.DelayFrom(now); wait > 0 {
			wanted.CancelAt(now)
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			WriteProblem(w, r, http.StatusTooManyRequests, "you ask too often: wait for as many seconds as Retry-After says, and ask "+
				"for lists or a watch in place of single objects")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limiters are those of the callers who asked lately, in two generations. Who has not asked for as long as a whole burst
// takes to come back has it all again, as if new: when the young generation is that old, or full, the old one goes.
type limiters struct {
	limits Limits
	full   time.Duration // after which nothing is known of a caller that a new limiter does not know

	mu         sync.Mutex
	young, old map[string]*rate.Limiter // by username
	born       time.Time                // of the young generation
}

func newLimiters(l Limits) *limiters {
	full := time.Duration(float64(l.Burst) / l.PerSecond * float64(time.Second))
	return &limiters{limits: l, full: full, young: map[string]*rate.Limiter{}, born: l.Clock.Now()}
}

// of is the limiter of a caller, the same one for requests that come together.
func (l *limiters) of(name string, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.born) >= l.full || len(l.young) >= maxLimited/2 {
		l.young, l.old, l.born = map[string]*rate.Limiter{}, l.young, now
	}
	for _, known := range []*rate.Limiter{l.young[name], l.old[name]} {
		if known != nil {
			l.young[name] = known
			return known
		}
	}
	fresh := rate.NewLimiter(rate.Limit(l.limits.PerSecond), l.limits.Burst)
	l.young[name] = fresh
	return fresh
}
