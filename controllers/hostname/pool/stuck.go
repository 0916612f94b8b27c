package pool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// When a load balancer does not follow its configuration, its controller retries, and the changes of all teams wait.
// After Patience, a search finds the hostnames whose routes block it; see search. This file has its inputs and its
// reports. No hostname is closed while the controller is away or AWS does not answer.

// standstills are the reasons of a pass in which the load balancer did not follow.
var standstills = []string{
	v1alpha1.ReasonChangesWait, v1alpha1.ReasonGatewayFailed, v1alpha1.ReasonGatewayPending,
	v1alpha1.ReasonRoutePending, v1alpha1.ReasonCertificatesPending,
}

// beginSearch records the current routes, which decides which hostnames are closed.
func (r *reconciliation) beginSearch() {
	s := &r.pg.Status
	unknown := s.Following == nil
	if unknown {
		s.Following = &v1alpha1.PoolFollowing{}
	}
	hosts := make([]host, len(r.members))
	for i, m := range r.members {
		hosts[i] = host{
			claim: m.claim, namespace: m.namespace, digest: r.demands[m.claim].digest,
			closed: r.closedFor(m) != nil,
		}
	}
	r.search = newSearch(s.Following, r.Now(), r.Patience, hosts)
	if unknown && s.LoadBalancer != nil { // from before an upgrade: the routes do not count as changed
		r.search.noteFollowed()
	}
	r.search.begin()
}

// follow updates the search with the outcome of the pass, and returns the outcome with the time of the next check.
func (r *reconciliation) follow(ctx context.Context, outcome error) error {
	if len(r.members) == 0 {
		r.pg.Status.Following = nil
		return outcome
	}
	if r.search == nil {
		return outcome
	}
	seen, err := r.look(ctx, outcome)
	if err != nil {
		return err
	}
	again := r.search.end(seen)
	r.tellInnocent()
	wait, waits := engine.AsWait(outcome)
	switch {
	case seen == unseen || !waits:
		r.pass.LookAgain(again)
		return outcome
	case seen == deserted:
		return sooner(wait, again, ". The load balancer controller seems to be away: it does not renew its Lease "+
			ControllerLease)
	case r.search.helpedNobody():
		return sooner(wait, again, ". To close the hostnames whose routes have changed did not help; they are "+
			"open again")
	default:
		return sooner(wait, again, "")
	}
}

// look returns what the pass has seen of the load balancer. AWS must answer before a hostname is closed.
func (r *reconciliation) look(ctx context.Context, outcome error) (sight, error) {
	if outcome == nil {
		return follows, nil
	}
	wait, known := engine.AsWait(outcome)
	if !known || r.unseen || !slices.Contains(standstills, wait.Reason) || r.pg.Status.LoadBalancer == nil &&
		wait.Reason != v1alpha1.ReasonGatewayFailed {
		return unseen, nil
	}
	p, err := r.Heartbeat.Pulse(ctx, r.Now(), r.Patience/2)
	if err != nil {
		return unseen, err
	}
	switch {
	case p.unheard && refuses(wait): // its Lease has another name, or none, but it has reported that it cannot go on
	case p.away:
		return deserted, nil
	case p.since.IsZero():
		return starting, nil
	}
	if r.search.isUp() && !r.read && r.address() != "" {
		if err := r.readLoadBalancer(ctx); err != nil {
			return unseen, err
		}
	}
	return standsStill, nil
}

// refuses reports whether the load balancer controller itself has reported that it cannot go on.
func refuses(w *engine.WaitError) bool {
	return w.Reason == v1alpha1.ReasonChangesWait || w.Reason == v1alpha1.ReasonGatewayFailed
}

// tellInnocent sends an event for each hostname that turned out not to block the load balancer.
func (r *reconciliation) tellInnocent() {
	for _, m := range r.members {
		if slices.Contains(r.search.innocent, m.claim) {
			r.pass.Normal(v1alpha1.ReasonHostnameOpened, "OpenListener", "%s of namespace %s stays open: the load "+
				"balancer follows with its routes as they were", m.hostname, m.namespace)
		}
	}
}

// sooner returns the wait with text appended, and with an earlier next check.
func sooner(w *engine.WaitError, look time.Duration, text string) error {
	other := *w
	if text != "" {
		other.Err = fmt.Errorf("%w%s", w.Err, text)
	}
	if look > 0 && (w.After <= 0 || look < w.After) {
		other.After = look
	}
	return &other
}
