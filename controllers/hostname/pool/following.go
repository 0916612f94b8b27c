package pool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// A load balancer that does not follow is tried again by its controller, and changes of all teams wait. When that lasts
// for longer than Patience, the hostnames are suspects whose routes changed since it last followed. One at a time is
// closed. If the load balancer goes on, it stays closed until its routes change; else it is opened again, and the next
// is tried. Each is tried once, so that nothing goes on for ever when none of them is to blame. Nobody is closed while
// the controller is away, or AWS does not answer.

// standstills are the reasons of a pass that found the load balancer not to follow.
var standstills = []string{
	v1alpha1.ReasonChangesWait, v1alpha1.ReasonGatewayFailed, v1alpha1.ReasonGatewayPending, v1alpha1.ReasonRoutePending, v1alpha1.ReasonCertificatesPending,
}

// follow brings on what is known of how the load balancer follows, by the outcome of the pass, and returns that, to be
// looked at again in time.
func (r *reconciliation) follow(ctx context.Context, outcome error) error {
	s := &r.pg.Status
	if len(r.members) == 0 || r.demands == nil {
		if len(r.members) == 0 {
			s.Following = nil
		}
		return outcome
	}
	if s.Following == nil {
		s.Following = &v1alpha1.PoolFollowing{}
		if s.LoadBalancer != nil { // of before an upgrade: nobody's change is known
			r.noteFollowed()
		}
	}
	f := s.Following
	r.forgetGone(f)
	wait, known := engine.AsWait(outcome)
	switch {
	case outcome == nil:
		r.settle(f)
		return nil
	case !known || r.unseen || !slices.Contains(standstills, wait.Reason) || s.LoadBalancer == nil && wait.Reason != v1alpha1.ReasonGatewayFailed:
		f.LostSince, f.Suspect = nil, nil // it cannot be known who is to blame
		return outcome
	case f.LostSince == nil:
		f.LostSince = new(metav1.NewTime(r.Now()))
	}
	return r.try(ctx, f, wait)
}

// settle notes that the load balancer follows. A suspect that is closed was to blame, then.
func (r *reconciliation) settle(f *v1alpha1.PoolFollowing) {
	if f.Suspect != nil {
		f.Blamed = append(f.Blamed, f.Suspect.HostnameRoutes)
	}
	f.LostSince, f.Suspect, f.Cleared = nil, nil, nil
	r.noteFollowed()
}

// noteFollowed remembers the routes of the open hostnames as ones with which the load balancer follows.
func (r *reconciliation) noteFollowed() {
	f := r.pg.Status.Following
	f.Followed = nil
	for _, m := range r.members {
		if !r.closed[m.claim] && !blames(f.Blamed, m.claim) {
			f.Followed = append(f.Followed, v1alpha1.HostnameRoutes{Claim: m.claim, Digest: r.demands[m.claim].digest})
		}
	}
	slices.SortFunc(f.Followed, func(a, b v1alpha1.HostnameRoutes) int { return cmp.Compare(a.Claim, b.Claim) })
}

// try closes the next suspect or opens the last, when it is time, and returns the wait with what there is to say and
// the time to look again.
func (r *reconciliation) try(ctx context.Context, f *v1alpha1.PoolFollowing, wait *engine.WaitError) error {
	now := r.Now()
	p, err := r.Heartbeat.Pulse(ctx, now, r.Patience/2)
	if err != nil {
		return err
	}
	if p.unheard && refuses(wait) { // it has a Lease of another name, or none
		p = pulse{since: f.LostSince.Time}
	}
	look := max(r.Patience/4, minLook)
	switch {
	case p.away:
		f.Suspect = nil
		return again(wait, look, ". The load balancer controller seems to be away: it does not renew its Lease "+ControllerLease)
	case p.since.IsZero():
		return again(wait, look, "")
	}
	since := later(f.LostSince.Time, p.since)
	if f.Suspect != nil {
		since = later(f.Suspect.Since.Time, p.since)
	}
	if left := r.Patience - now.Sub(since); left > 0 {
		return again(wait, min(left, look), "")
	}
	if !r.read && r.address() != "" {
		if err := r.readLoadBalancer(ctx); err != nil {
			f.LostSince, f.Suspect = nil, nil
			return err
		}
	}
	return r.tryNext(f, wait, now)
}

func (r *reconciliation) tryNext(f *v1alpha1.PoolFollowing, wait *engine.WaitError, now time.Time) error {
	if f.Suspect != nil { // it did not help
		f.Cleared, f.Suspect = append(f.Cleared, f.Suspect.HostnameRoutes), nil
		return again(wait, soon, "")
	}
	next := r.nextSuspect(f)
	switch {
	case next != nil:
		f.Suspect = &v1alpha1.SuspectHostname{HostnameRoutes: *next, Since: metav1.NewTime(now)}
		return again(wait, soon, "")
	case len(f.Cleared) > 0:
		return again(wait, watchFallback, ". To close the hostnames whose routes have changed, one at a time, did not help; they are open again")
	default:
		return again(wait, watchFallback, "")
	}
}

// refuses reports whether the load balancer controller itself has said that it cannot go on.
func refuses(w *engine.WaitError) bool {
	return w.Reason == v1alpha1.ReasonChangesWait || w.Reason == v1alpha1.ReasonGatewayFailed
}

const (
	soon    = time.Second // a suspect is closed, or opened, by the next pass
	minLook = time.Second
)

// nextSuspect returns the open hostname whose routes changed last since the load balancer followed, and that was not
// tried yet.
func (r *reconciliation) nextSuspect(f *v1alpha1.PoolFollowing) *v1alpha1.HostnameRoutes {
	var found *v1alpha1.HostnameRoutes
	var changed time.Time
	for _, m := range r.members {
		d := r.demands[m.claim]
		one := v1alpha1.HostnameRoutes{Claim: m.claim, Digest: d.digest}
		if d.digest == "" || r.closed[m.claim] || slices.Contains(f.Followed, one) || slices.Contains(f.Cleared, one) {
			continue
		}
		if found == nil || d.changed.After(changed) {
			found, changed = &one, d.changed
		}
	}
	return found
}

func blames(all []v1alpha1.HostnameRoutes, claim string) bool {
	return slices.ContainsFunc(all, func(b v1alpha1.HostnameRoutes) bool { return b.Claim == claim })
}

func (r *reconciliation) isSuspect(claim string) bool {
	f := r.pg.Status.Following
	return f != nil && f.Suspect != nil && f.Suspect.Claim == claim
}

func (r *reconciliation) isBlamed(claim string) bool {
	f := r.pg.Status.Following
	return f != nil && blames(f.Blamed, claim)
}

// forgetBlamed opens the hostnames whose routes are others than those that were to blame.
func (r *reconciliation) forgetBlamed() {
	f := r.pg.Status.Following
	if f == nil {
		return
	}
	changed := func(b v1alpha1.HostnameRoutes) bool { return r.demands[b.Claim].digest != b.Digest }
	f.Blamed = slices.DeleteFunc(f.Blamed, changed)
	if f.Suspect != nil && changed(f.Suspect.HostnameRoutes) {
		f.Suspect, f.LostSince = nil, nil
	}
}

// forgetGone drops what is known of hostnames that are no members any more, so that the lists are never longer than
// there are members.
func (r *reconciliation) forgetGone(f *v1alpha1.PoolFollowing) {
	claims := r.claims()
	gone := func(b v1alpha1.HostnameRoutes) bool { return !claims[b.Claim] }
	f.Followed, f.Blamed = slices.DeleteFunc(f.Followed, gone), slices.DeleteFunc(f.Blamed, gone)
	f.Cleared = slices.DeleteFunc(f.Cleared, func(c v1alpha1.HostnameRoutes) bool { return gone(c) || r.demands[c.Claim].digest != c.Digest })
}

// again returns the wait with a text behind it, and an earlier next look.
func again(w *engine.WaitError, look time.Duration, text string) error {
	other := *w
	if text != "" {
		other.Err = fmt.Errorf("%w%s", w.Err, text)
	}
	if w.After <= 0 || look < w.After {
		other.After = look
	}
	return &other
}
