package pods

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/cluster/rights"
)

const (
	// usageTTL is how long figures are shown before they are read again; metrics-server measures every 15 seconds.
	usageTTL = 10 * time.Second
	// maxUsages bounds the cached readings, each of one user and application.
	maxUsages = 2000
)

// usages are the readings of the last seconds, by user and application.
type usages struct {
	clock clock.PassiveClock
	wait  time.Duration // of a page for the figures; 0: usageWait

	mu  sync.Mutex
	all map[rights.Question]*usageReading
}

// usageReading is one read of what an application's Pods use.
type usageReading struct {
	began time.Time
	wait  time.Duration
	last  *usageReading // the previous one, if it has ended; nil otherwise
	done  chan struct{}

	mu    sync.Mutex
	late  bool // a caller stopped waiting for it
	usage map[string]Usage
	err   error
}

// current returns the reading in progress or a fresh one, or starts one.
func (u *usages) current(q rights.Question, read func(*usageReading)) *usageReading {
	u.mu.Lock()
	defer u.mu.Unlock()
	now, last := u.clock.Now(), u.all[q]
	if last != nil && (!last.ended() || now.Sub(last.began) < usageTTL) {
		return last
	}
	if len(u.all) >= maxUsages {
		maps.DeleteFunc(u.all, func(_ rights.Question, r *usageReading) bool { return now.Sub(r.began) >= usageTTL })
	}
	r := &usageReading{began: now, wait: cmp.Or(u.wait, usageWait), done: make(chan struct{})}
	if last != nil {
		r.last, last.last = last, nil
	}
	if u.all == nil || len(u.all) >= maxUsages {
		u.all = map[rights.Question]*usageReading{}
	}
	u.all[q] = r
	go read(r)
	return r
}

func (r *usageReading) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// end ends the reading, and reports whether a caller stopped waiting for it.
func (r *usageReading) end(usage map[string]Usage, err error) (late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage, r.err = usage, err
	close(r.done)
	return r.late
}

// await returns the figures as soon as they are available; after a short wait it returns those of the previous reading,
// if there are any.
func (r *usageReading) await(ctx context.Context) (map[string]Usage, error) {
	wait := time.NewTimer(r.wait)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.done:
	case <-wait.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended():
		return r.usage, r.err
	case r.last != nil:
		r.late = true
		return r.last.usage, r.last.err
	}
	r.late = true
	return nil, ErrNoUsageYet
}
