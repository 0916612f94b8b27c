package pool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/teamroute"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// RouteIndex of HTTPRoutes and GRPCRoutes by "namespace/name" of the ListenerSets that they name as parents.
const RouteIndex = "listenerset"

// teamRoute is what counts of an HTTPRoute or a GRPCRoute.
type teamRoute struct {
	object    client.Object
	kind      string
	spec      any // *gatewayv1.HTTPRouteSpec or *gatewayv1.GRPCRouteSpec
	parents   []gatewayv1.ParentReference
	hostnames []gatewayv1.Hostname
	rules     []rule
	status    []gatewayv1.RouteParentStatus
}

type rule struct {
	matches  int
	backends []gatewayv1.BackendRef
}

func teamRouteOf(obj client.Object) teamRoute {
	r := teamRoute{object: obj}
	switch o := obj.(type) {
	case *gatewayv1.HTTPRoute:
		r.kind, r.spec, r.parents, r.hostnames, r.status = teamroute.HTTP, &o.Spec, o.Spec.ParentRefs, o.Spec.Hostnames, o.Status.Parents
		for i := range o.Spec.Rules {
			one := rule{matches: len(o.Spec.Rules[i].Matches)}
			for _, b := range o.Spec.Rules[i].BackendRefs {
				one.backends = append(one.backends, b.BackendRef)
			}
			r.rules = append(r.rules, one)
		}
	case *gatewayv1.GRPCRoute:
		r.kind, r.spec, r.parents, r.hostnames, r.status = teamroute.GRPC, &o.Spec, o.Spec.ParentRefs, o.Spec.Hostnames, o.Status.Parents
		for i := range o.Spec.Rules {
			one := rule{matches: len(o.Spec.Rules[i].Matches)}
			for _, b := range o.Spec.Rules[i].BackendRefs {
				one.backends = append(one.backends, b.BackendRef)
			}
			r.rules = append(r.rules, one)
		}
	}
	return r
}

func (r *teamRoute) String() string {
	return fmt.Sprintf("%s %s/%s", r.kind, r.object.GetNamespace(), r.object.GetName())
}

// ListenerSetsOf returns the ListenerSets that a route names as parents, as RouteIndex has them.
func ListenerSetsOf(obj client.Object) []string {
	r := teamRouteOf(obj)
	var all []string
	for i := range r.parents {
		if p := &r.parents[i]; p.Kind != nil && *p.Kind == "ListenerSet" {
			all = append(all, r.namespaceOf(p)+"/"+string(p.Name))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (r *teamRoute) namespaceOf(p *gatewayv1.ParentReference) string {
	if p.Namespace != nil {
		return string(*p.Namespace)
	}
	return r.object.GetNamespace()
}

// listRoutes returns the routes of a namespace that name the ListenerSet called claim, sorted.
func listRoutes(ctx context.Context, from client.Reader, gateways, claim, namespace string) ([]teamRoute, error) {
	options := []client.ListOption{client.InNamespace(namespace), client.MatchingFields{RouteIndex: gateways + "/" + claim}, client.UnsafeDisableDeepCopy}
	var all []teamRoute
	for _, list := range []client.ObjectList{&gatewayv1.HTTPRouteList{}, &gatewayv1.GRPCRouteList{}} {
		if err := from.List(ctx, list, options...); err != nil {
			return nil, fmt.Errorf("list the routes at %s: %w", claim, err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			all = append(all, teamRouteOf(o.(client.Object)))
			return nil
		})
	}
	slices.SortFunc(all, func(a, b teamRoute) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.object.GetName(), b.object.GetName()))
	})
	return all, nil
}

// Needs returns what the routes of a namespace need of the load balancer for the hostname of the ListenerSet named
// claim. It counts what they ask for, which stays the same while the listener is closed.
func Needs(ctx context.Context, from client.Reader, gateways, claim, namespace, hostname string) (v1alpha1.LoadBalancerBudget, error) {
	d, err := readDemand(ctx, from, gateways, member{claim: claim, namespace: namespace, hostname: hostname})
	return d.needs, err
}

// demand is what the routes of a hostname ask for.
type demand struct {
	needs   v1alpha1.LoadBalancerBudget
	fault   string                    // what the load balancer does not take, and of which route; empty if there is nothing
	pending string                    // a route that the controller has not taken up; empty if there is none
	rules   map[string]map[string]int // of the load balancer by host and route, for the routes that the controller takes
	digest  string                    // of the specs; empty without routes
	changed time.Time                 // last
}

func readDemand(ctx context.Context, from client.Reader, gateways string, m member) (demand, error) {
	d := demand{rules: map[string]map[string]int{}}
	listener, err := dnsname.Parse(m.hostname)
	if err != nil {
		return d, fmt.Errorf("count the rules of %s: %w", m.hostname, err)
	}
	routes, err := listRoutes(ctx, from, gateways, m.claim, m.namespace)
	if err != nil {
		return d, err
	}
	groups, sum := map[string]bool{}, sha256.New()
	for i := range routes {
		r := &routes[i]
		hosts := r.hosts(listener)
		if len(hosts) == 0 {
			continue
		}
		if err := d.judge(r); err != nil {
			return d, err
		}
		n := r.count(groups)
		d.needs.Rules += toInt32(n * len(hosts))
		d.expect(r, r.accepted(gateways, m.claim), hosts, n)
		if err := json.NewEncoder(sum).Encode([]any{r.kind, r.object.GetName(), r.spec}); err != nil {
			return d, fmt.Errorf("read the %s: %w", r, err)
		}
		d.changed, d.digest = later(d.changed, lastChange(r.object)), hex.EncodeToString(sum.Sum(nil)[:8])
	}
	d.needs.TargetGroups = toInt32(len(groups))
	return d, nil
}

// expect notes n rules for each host of a route that the controller takes.
func (d *demand) expect(r *teamRoute, accepted *metav1.Condition, hosts []string, n int) {
	if accepted == nil && d.pending == "" {
		d.pending = r.String()
	}
	for _, h := range hosts {
		if accepted == nil || accepted.Status != metav1.ConditionTrue {
			continue
		}
		if d.rules[h] == nil {
			d.rules[h] = map[string]int{}
		}
		d.rules[h][r.String()] = n
	}
}

func (d *demand) judge(r *teamRoute) error {
	if d.fault != "" {
		return nil
	}
	fault, err := teamroute.Judge(r.kind, r.spec)
	if err != nil {
		return fmt.Errorf("judge the %s: %w", r, err)
	}
	if fault != "" {
		d.fault = r.String() + ": " + fault
	}
	return nil
}

// hosts returns the names that both the listener and the route have: of two that overlap, the narrower.
func (r *teamRoute) hosts(listener dnsname.Name) []string {
	if len(r.hostnames) == 0 {
		return []string{listener.String()}
	}
	var all []string
	for _, h := range r.hostnames {
		own, err := dnsname.Parse(string(h))
		if err != nil || !own.Overlaps(listener) {
			continue
		}
		if own.Wildcard() && (!listener.Wildcard() || len(listener.Base()) > len(own.Base())) {
			own = listener
		}
		all = append(all, own.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// count returns how many rules the route needs for each host, one for each match, and adds its target groups: the
// controller makes one for each route, Service and port.
func (r *teamRoute) count(groups map[string]bool) (rules int) {
	for _, one := range r.rules {
		rules += max(one.matches, 1)
		for _, b := range one.backends {
			groups[r.group(b)] = true
		}
	}
	return rules
}

func (r *teamRoute) group(b gatewayv1.BackendRef) string {
	namespace, port := r.object.GetNamespace(), int32(0)
	if b.Namespace != nil {
		namespace = string(*b.Namespace)
	}
	if b.Port != nil {
		port = *b.Port
	}
	return fmt.Sprintf("%s %s/%s:%d", r, namespace, b.Name, port)
}

// accepted returns what the load balancer controller says of the route at the ListenerSet as it is now; nil while it
// says nothing.
func (r *teamRoute) accepted(gateways, claim string) *metav1.Condition {
	for i := range r.status {
		s := &r.status[i]
		if s.ControllerName != albconfig.ControllerName || string(s.ParentRef.Name) != claim || r.namespaceOf(&s.ParentRef) != gateways {
			continue
		}
		c := meta.FindStatusCondition(s.Conditions, string(gatewayv1.RouteConditionAccepted))
		if c != nil && c.ObservedGeneration == r.object.GetGeneration() {
			return c
		}
	}
	return nil
}

// lastChange returns when somebody last wrote to the object, but for its status.
func lastChange(o client.Object) time.Time {
	last := o.GetCreationTimestamp().Time
	for _, f := range o.GetManagedFields() {
		if f.Subresource == "" && f.Time != nil {
			last = later(last, f.Time.Time)
		}
	}
	return last
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
