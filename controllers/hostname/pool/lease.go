package pool

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ControllerLease is the Lease by which one replica of the AWS Load Balancer Controller leads, in whichever namespace
// it runs.
const ControllerLease = "aws-load-balancer-controller-leader"

// Heartbeat knows whether the load balancer controller is at work: its Lease changes every few seconds. It compares
// what it sees with what it saw before, and no clocks of different machines.
type Heartbeat struct {
	// Reader reads past the cache: it is asked only while a load balancer stands still.
	Reader client.Reader

	mu      sync.Mutex
	last    map[client.ObjectKey]time.Time // of renewals, by Lease
	looked  time.Time                      // last
	since   time.Time                      // when renewals began to be seen, without a gap; zero while none is seen
	changed time.Time                      // when a renewal was last seen, or looking for one began
}

// pulse is what is known of a controller.
type pulse struct {
	since   time.Time // when it was first seen at work, without a gap; zero if it is not
	away    bool      // it was looked at for long enough, and is not at work
	unheard bool      // there is no Lease of its name
}

// Pulse looks at the Lease. A controller is at work if it renews that within the time; whether it does is known after
// two looks.
func (h *Heartbeat) Pulse(ctx context.Context, now time.Time, within time.Duration) (pulse, error) { //nolint:revive // only this package reads it
	list := &coordinationv1.LeaseList{}
	if err := h.Reader.List(ctx, list, client.MatchingFields{"metadata.name": ControllerLease}); err != nil {
		return pulse{}, fmt.Errorf("look for the Lease %s of the load balancer controller: %w", ControllerLease, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if gap := now.Sub(h.looked); gap < 0 || gap > within { // of the time between is nothing known, or the clock was ahead
		h.last, h.since, h.changed = nil, time.Time{}, now
	}
	seen := map[client.ObjectKey]time.Time{}
	for i := range list.Items {
		l := &list.Items[i]
		if l.Spec.RenewTime == nil {
			continue
		}
		key := client.ObjectKeyFromObject(l)
		seen[key] = l.Spec.RenewTime.Time
		if was, known := h.last[key]; known && !was.Equal(seen[key]) {
			h.changed = now
			if h.since.IsZero() {
				h.since = now
			}
		}
	}
	h.last, h.looked = seen, now
	p := pulse{away: now.Sub(h.changed) > within, unheard: len(seen) == 0}
	if p.away {
		h.since = time.Time{}
	}
	p.since = h.since
	return p, nil
}
