package cluster

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// usageTTL is how long figures are shown before they are read again; metrics-server measures every 15 seconds.
	usageTTL = 10 * time.Second
	// maxUsages bounds the readings kept, of one user and application each.
	maxUsages = 2000
)

// usages are the readings of the last seconds, by who asked and about which application.
type usages struct {
	clock clock.PassiveClock
	wait  time.Duration // of a page for the figures; 0: usageWait

	mu  sync.Mutex
	all map[question]*usageReading
}

// usageReading is one look at what the Pods of an application use.
type usageReading struct {
	began time.Time
	wait  time.Duration
	last  *usageReading // the one before, if that has ended; nil otherwise
	done  chan struct{}

	mu    sync.Mutex
	late  bool // somebody has gone on without it
	usage map[string]Usage
	err   error
}

// current returns the reading that is under way, or a fresh one, or begins one.
func (u *usages) current(q question, read func(*usageReading)) *usageReading {
	u.mu.Lock()
	defer u.mu.Unlock()
	now, last := u.clock.Now(), u.all[q]
	if last != nil && (!last.ended() || now.Sub(last.began) < usageTTL) {
		return last
	}
	if len(u.all) >= maxUsages {
		maps.DeleteFunc(u.all, func(_ question, r *usageReading) bool { return now.Sub(r.began) >= usageTTL })
	}
	r := &usageReading{began: now, wait: cmp.Or(u.wait, usageWait), done: make(chan struct{})}
	if last != nil {
		r.last, last.last = last, nil
	}
	if u.all == nil || len(u.all) >= maxUsages {
		u.all = map[question]*usageReading{}
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

// end ends the reading, and reports whether somebody has gone on without it.
func (r *usageReading) end(usage map[string]Usage, err error) (late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage, r.err = usage, err
	close(r.done)
	return r.late
}

// await returns the figures as soon as they are there; after a short wait those of the reading before, if there are
// any.
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
