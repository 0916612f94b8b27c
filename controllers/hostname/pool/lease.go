package pool

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ControllerLease is the leader-election Lease of the AWS Load Balancer Controller, in any namespace.
const ControllerLease = "aws-load-balancer-controller-leader"

// Heartbeat detects whether the load balancer controller is running: it renews its Lease every few seconds. It compares
// two observations, never the clocks of different machines.
type Heartbeat struct {
	// Reader reads past the cache; it is used only while a load balancer does not follow.
	Reader client.Reader

	mu      sync.Mutex
	last    map[client.ObjectKey]time.Time // of renewals, by Lease
	looked  time.Time                      // last
	since   time.Time                      // since when renewals have been seen without a gap; zero while none is seen
	changed time.Time                      // when a renewal was last seen, or observation began
}

// pulse is the observed state of a controller.
type pulse struct {
	since   time.Time // since when it has been seen running without a gap; zero if it has not
	away    bool      // it was observed for long enough, and is not running
	unheard bool      // there is no Lease of its name
}

// Pulse reads the Lease. The controller is running if it renews the Lease within the given time, which takes two calls
// to observe.
func (h *Heartbeat) Pulse(ctx context.Context, now time.Time, within time.Duration) (pulse, error) { //nolint:revive // only this package reads it
	list := &coordinationv1.LeaseList{}
	if err := h.Reader.List(ctx, list, client.MatchingFields{"metadata.name": ControllerLease}); err != nil {
		return pulse{}, fmt.Errorf("look for the Lease %s of the load balancer controller: %w", ControllerLease, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if gap := now.Sub(h.looked); gap < 0 || gap > within { // the gap is too long, or the clock was ahead
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
