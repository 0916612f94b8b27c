package pool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// observeLoadBalancer reads the load balancer from AWS, and again soon until it has exactly the wanted certificates and
// the rules of the routes.
func (r *reconciliation) observeLoadBalancer(ctx context.Context) (string, error) {
	s := &r.pg.Status
	r.observed = true
	if len(r.members) == 0 {
		s.LoadBalancer, s.Attached, s.Certificates, s.Rules, s.TargetGroups = nil, nil, 0, 0, 0
		return "there is no load balancer", nil
	}
	want := r.arns()
	slices.Sort(want)
	if !slices.Equal(want, s.Attached) || s.LoadBalancer == nil || s.LoadBalancer.DNSName != r.address() ||
		r.ObservedTimes.stale(r.pg.UID, r.Now()) || r.otherRules() != "" {
		if err := r.readLoadBalancer(ctx); err != nil {
			return "", err
		}
	}
	if !slices.Equal(want, s.Attached) {
		return "", engine.Wait(v1alpha1.ReasonCertificatesPending, r.pollInterval(),
			"the load balancer controller is at work on the certificates: %d are wanted, %d are there", len(want),
			len(s.Attached))
	}
	if pending := r.pendingRoutes(); pending != "" {
		return "", engine.Wait(v1alpha1.ReasonRoutePending, r.pollInterval(),
			"the load balancer controller has not taken up %s yet", pending)
	}
	if other := r.otherRules(); other != "" && !r.givenUp() {
		return "", engine.Wait(v1alpha1.ReasonRoutePending, r.pollInterval(),
			"the load balancer controller is at work on the rules: %s", other)
	}
	return fmt.Sprintf("%d of %d certificates, %d of %d rules, %d of %d target groups",
			s.Certificates, v1alpha1.PoolHostnames, s.Rules, v1alpha1.PoolRules, s.TargetGroups,
			v1alpha1.PoolTargetGroups),
		nil
}

// pendingRoutes returns what the load balancer controller has not processed at its current generation: a listener, or a
// route attached to one. It uses the listeners as written, which the cache may not show yet.
func (r *reconciliation) pendingRoutes() string {
	for _, m := range r.members {
		set := r.sets[m.claim]
		c := meta.FindStatusCondition(set.Status.Conditions, string(gatewayv1.ListenerSetConditionAccepted))
		if c == nil || c.ObservedGeneration != set.Generation {
			return "the listener of " + m.hostname
		}
		if p := r.demands[m.claim].pending; p != "" && !r.closed[m.claim] {
			return "the " + p
		}
	}
	return ""
}

// otherRules returns a host whose number of rules on the load balancer differs from what its routes need; "" if there
// is none.
func (r *reconciliation) otherRules() string {
	have, known := r.ObservedTimes.hosts(r.pg.UID)
	want := r.wantedRules()
	for _, host := range slices.Sorted(maps.Keys(want)) {
		if n := have[host]; known && n != want[host] {
			return fmt.Sprintf("%d for %s are wanted, %d are there", want[host], host, n)
		}
	}
	return ""
}

// wantedRules returns how many rules the routes of the open hostnames need, by host. A route attached to two listeners
// has its rules once.
func (r *reconciliation) wantedRules() map[string]int {
	routes, want := map[string]map[string]int{}, map[string]int{}
	for _, m := range r.members {
		want[m.hostname] += 0
		if r.closed[m.claim] {
			continue
		}
		for host, byRoute := range r.demands[m.claim].rules {
			if routes[host] == nil {
				routes[host] = map[string]int{}
			}
			maps.Copy(routes[host], byRoute)
		}
	}
	for host, byRoute := range routes {
		for _, n := range byRoute {
			want[host] += n
		}
	}
	return want
}

// givenUp reports whether the load balancer has had different rules for so long that somebody else must have made them:
// rules made by hand must not keep the load balancer from counting as following.
func (r *reconciliation) givenUp() bool {
	have, _ := r.ObservedTimes.hosts(r.pg.UID)
	for host, n := range r.wantedRules() {
		if have[host] < n {
			return false
		}
	}
	c := meta.FindStatusCondition(r.pg.Status.Conditions, v1alpha1.StepLoadBalancer)
	return c != nil && c.Status == metav1.ConditionFalse && r.Now().Sub(c.LastTransitionTime.Time) > r.Patience/2
}

// pollInterval returns how soon to read the load balancer again; it grows the longer the load balancer lacks what is
// wanted.
func (r *reconciliation) pollInterval() time.Duration {
	const first, last = 2 * time.Second, 30 * time.Second
	c := meta.FindStatusCondition(r.pg.Status.Conditions, v1alpha1.StepLoadBalancer)
	if c == nil || c.Status == metav1.ConditionTrue {
		return first
	}
	return min(max(r.Now().Sub(c.LastTransitionTime.Time)/4, first), last)
}

// readLoadBalancer reads the load balancer into the status.
func (r *reconciliation) readLoadBalancer(ctx context.Context) error {
	r.observed, r.read = true, true
	balancers, err := r.LoadBalancers(ctx, r.pg)
	if err != nil {
		return err
	}
	seen, err := balancers.Find(ctx, r.address())
	if err != nil {
		return cloud.Explain(err)
	}
	if seen == nil {
		r.pg.Status.LoadBalancer, r.pg.Status.Attached, r.unseen = nil, nil, true
		return engine.Wait(v1alpha1.ReasonLoadBalancerNotFound, 10*time.Second,
			"account %s has no load balancer %s in %s; if this stays, the load balancer controller works in another "+
				"account than provider %s",
			r.pg.Spec.AccountID, r.address(), r.pg.Spec.Region, r.pg.Spec.ProviderRef.Name)
	}
	r.ObservedTimes.set(r.pg.UID, r.Now(), seen.Hosts)
	s := &r.pg.Status
	s.LoadBalancer, s.Attached = &seen.PoolLoadBalancer, seen.Certificates
	s.Certificates, s.Rules, s.TargetGroups = toInt32(len(seen.Certificates)), toInt32(seen.Rules),
		toInt32(len(seen.TargetGroups))
	return nil
}

func toInt32(n int) int32 {
	return int32(min(n, 1<<30)) //nolint:gosec // it is bounded
}

// ObservedTimes remembers when load balancers were last read.
type ObservedTimes struct {
	// MaxAge is how long a load balancer in the wanted state is not read again, however often its PoolGateway is
	// reconciled, for example when hostnames come and go.
	MaxAge time.Duration

	at sync.Map
}

// observed is the rules of a load balancer as last read, and when.
type observed struct {
	at    time.Time
	hosts map[string]int
}

func (t *ObservedTimes) stale(of types.UID, now time.Time) bool {
	last, ok := t.at.Load(of)
	if !ok {
		return true
	}
	age := now.Sub(last.(observed).at)
	return age < 0 || age >= t.MaxAge // negative: the clock was ahead
}

// hosts returns the last seen number of rules for each host.
func (t *ObservedTimes) hosts(of types.UID) (hosts map[string]int, known bool) {
	last, ok := t.at.Load(of)
	if !ok {
		return nil, false
	}
	return last.(observed).hosts, true
}

func (t *ObservedTimes) set(of types.UID, now time.Time, hosts map[string]int) {
	t.at.Store(of, observed{now, hosts})
}
