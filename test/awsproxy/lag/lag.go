// Package lag decides which changes do not show yet.
package lag

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Lag decides which changes do not show yet: AWS shows a change to some callers at once, and to others after a while.
// The seed decides, for each change, whether it shows late and for how long.
type Lag struct {
	scale float64 // relative to AWS's own times
	now   func() time.Time

	mu    sync.Mutex
	lots  *rand.Rand
	calm  int
	until map[string]time.Time // by the key of the change
}

// New returns a lag that chooses times by the seed, and multiplies them by the scale.
func New(seed uint64, scale float64, now func() time.Time) *Lag {
	return &Lag{lots: rand.New(rand.NewPCG(seed, seed)), scale: scale, now: now, until: map[string]time.Time{}}
}

// Begin delays a change by a random time: one in three shows at once, the others within most.
func (l *Lag) Begin(what string, most time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, what)
	if l.scale == 0 || l.calm > 0 {
		return
	}
	if share := l.lots.Float64()*1.5 - 0.5; share > 0 {
		l.until[what] = l.now().Add(time.Duration(share * l.scale * float64(most)))
	}
}

// Ends returns a random time in the second half of the lifetime, at which the thing ends early. For half of all calls
// it returns the zero time: those do not end early.
func (l *Lag) Ends(life time.Duration) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	share := l.lots.Float64()
	if l.scale == 0 || l.calm > 0 || share < 0.5 {
		return time.Time{}
	}
	return l.now().Add(time.Duration(share * l.scale * float64(life)))
}

// End forgets a change, because its resource is gone.
func (l *Lag) End(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, what)
}

// Hides reports whether the change does not show yet.
func (l *Lag) Hides(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.until[what]
	if ok && !l.now().Before(until) {
		delete(l.until, what)
		ok = false
	}
	return ok && l.calm == 0
}

// Scaled returns one of AWS's times at the proxy's scale.
func (l *Lag) Scaled(d time.Duration) time.Duration { return time.Duration(l.scale * float64(d)) }

// Calm makes every change show at once, until end is called.
func (l *Lag) Calm() (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calm++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.calm--
	})
}
