package pool

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// A load balancer that does not follow is tried again by its controller, and changes of all teams wait. When that lasts
// for longer than Patience, a search finds the hostnames whose routes stop it: see search. Here is what it goes by, and
// what is told of it. Nobody is closed while the controller is away, or AWS does not answer.

// standstills are the reasons of a pass that found the load balancer not to follow.
var standstills = []string{
	v1alpha1.ReasonChangesWait, v1alpha1.ReasonGatewayFailed, v1alpha1.ReasonGatewayPending, v1alpha1.ReasonRoutePending, v1alpha1.ReasonCertificatesPending,
}

// beginSearch takes in the routes as they are: which hostnames are closed follows of it.
func (r *reconciliation) beginSearch() {
	s := &r.pg.Status
	unknown := s.Following == nil
	if unknown {
		s.Following = &v1alpha1.PoolFollowing{}
	}
	hosts := make([]host, len(r.members))
	for i, m := range r.members {
		hosts[i] = host{claim: m.claim, namespace: m.namespace, digest: r.demands[m.claim].digest, closed: r.closedFor(m) != nil}
	}
	r.search = newSearch(s.Following, r.Now(), r.Patience, hosts)
	if unknown && s.LoadBalancer != nil { // of before an upgrade: nobody's change is known
		r.search.noteFollowed()
	}
	r.search.begin()
}

// follow brings on what is known of how the load balancer follows, by the outcome of the pass, and returns that, to be
// looked at again in time.
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
		return sooner(wait, again, ". The load balancer controller seems to be away: it does not renew its Lease "+ControllerLease)
	case r.search.helpedNobody():
		return sooner(wait, again, ". To close the hostnames whose routes have changed did not help; they are open again")
	default:
		return sooner(wait, again, "")
	}
}

// look returns what the pass has seen of the load balancer. Before somebody is closed AWS has to answer.
func (r *reconciliation) look(ctx context.Context, outcome error) (sight, error) {
	if outcome == nil {
		return follows, nil
	}
	wait, known := engine.AsWait(outcome)
	if !known || r.unseen || !slices.Contains(standstills, wait.Reason) || r.pg.Status.LoadBalancer == nil && wait.Reason != v1alpha1.ReasonGatewayFailed {
		return unseen, nil
	}
	p, err := r.Heartbeat.Pulse(ctx, r.Now(), r.Patience/2)
	if err != nil {
		return unseen, err
	}
	switch {
	case p.unheard && refuses(wait): // it has a Lease of another name, or none, and has said itself that it cannot go on
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

// refuses reports whether the load balancer controller itself has said that it cannot go on.
func refuses(w *engine.WaitError) bool {
	return w.Reason == v1alpha1.ReasonChangesWait || w.Reason == v1alpha1.ReasonGatewayFailed
}

// tellInnocent sends an event for each hostname with which the load balancer follows after all.
func (r *reconciliation) tellInnocent() {
	for _, m := range r.members {
		if slices.Contains(r.search.innocent, m.claim) {
			r.pass.Normal(v1alpha1.ReasonHostnameOpened, "OpenListener", "%s of namespace %s stays open: the load balancer follows with its routes as they were", m.hostname, m.namespace)
		}
	}
}

// sooner returns the wait with a text behind it, and an earlier next look.
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
