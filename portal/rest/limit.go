package rest

import (
	"math"
	"net/http"
	"strconv"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
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
	callers := lru.New(maxLimited)
	of := func(name string) *rate.Limiter {
		if known, ok := callers.Get(name); ok {
			return known.(*rate.Limiter)
		}
		fresh := rate.NewLimiter(rate.Limit(l.PerSecond), l.Burst)
		callers.Add(name, fresh)
		return fresh
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := l.Clock.Now()
		wanted := of(caller(r.Context()).Username).ReserveN(now, 1)
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
