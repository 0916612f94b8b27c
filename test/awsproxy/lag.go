package awsproxy

import (
	"math/rand/v2"
	"sync"
	"time"
)

// How long AWS may show what was before, at the most.
const (
	// instanceLag: "Eventual consistency in the Amazon EC2 API" of its developer
	// guide asks to expect up to five minutes.
	instanceLag = 5 * time.Minute
	// bucketLag: "Amazon S3 data consistency model" says that what is said of
	// buckets is eventually consistent, and names no time; SDKs wait for two
	// minutes for a new bucket to show.
	bucketLag = 2 * time.Minute
	// queueNameWait is how long the name of a deleted queue stays taken, by the
	// reference of CreateQueue.
	queueNameWait = time.Minute
	// databaseCreation is how long a new database instance is "creating": minutes,
	// of which one is enough to be met by whoever waits.
	databaseCreation = time.Minute
)

// lag says what does not show yet: AWS shows a change to some callers at once,
// and to others after a while. Whether and for how long is drawn, change by
// change, from the seed.
type lag struct {
	scale float64 // of AWS's own times
	now   func() time.Time

	mu    sync.Mutex
	lots  *rand.Rand
	calm  int
	until map[string]time.Time // by what was changed
}

func newLag(seed uint64, scale float64, now func() time.Time) *lag {
	return &lag{lots: rand.New(rand.NewPCG(seed, seed)), scale: scale, now: now, until: map[string]time.Time{}}
}

// begin has a change of what not show for as long as the lot says: one in three
// shows at once, others within most.
func (l *lag) begin(what string, most time.Duration) {
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

// ends returns when something ends before its time, within the second half of
// life; zero if that is not to be, for every other one.
func (l *lag) ends(life time.Duration) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	share := l.lots.Float64()
	if l.scale == 0 || l.calm > 0 || share < 0.5 {
		return time.Time{}
	}
	return l.now().Add(time.Duration(share * l.scale * float64(life)))
}

// end has what is known of what forgotten, for it is gone.
func (l *lag) end(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, what)
}

// hides reports whether the change of what does not show yet.
func (l *lag) hides(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.until[what]
	if ok && !l.now().Before(until) {
		delete(l.until, what)
		ok = false
	}
	return ok && l.calm == 0
}

// scaled returns one of AWS's times at the proxy's scale.
func (l *lag) scaled(d time.Duration) time.Duration { return time.Duration(l.scale * float64(d)) }

// Calm has every change show at once, until end is called: for who counts
// calls.
func (p *Proxy) Calm() (end func()) {
	l := p.lag
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calm++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.calm--
	})
}
