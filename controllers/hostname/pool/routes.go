package pool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/teamroute"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// RouteIndex indexes HTTPRoutes and GRPCRoutes by "namespace/name" of their parent ListenerSets.
const RouteIndex = "listenerset"

// teamRoute is the relevant part of an HTTPRoute or a GRPCRoute.
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
		r.kind, r.spec, r.parents, r.hostnames, r.status = teamroute.HTTP, &o.Spec, o.Spec.ParentRefs, o.Spec.Hostnames,
			o.Status.Parents
		for i := range o.Spec.Rules {
			one := rule{matches: len(o.Spec.Rules[i].Matches)}
			for _, b := range o.Spec.Rules[i].BackendRefs {
				one.backends = append(one.backends, b.BackendRef)
			}
			r.rules = append(r.rules, one)
		}
	case *gatewayv1.GRPCRoute:
		r.kind, r.spec, r.parents, r.hostnames, r.status = teamroute.GRPC, &o.Spec, o.Spec.ParentRefs, o.Spec.Hostnames,
			o.Status.Parents
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

// ListenerSetsOf returns the parent ListenerSets of a route, as values of RouteIndex.
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

// listRoutes returns the routes of a namespace whose parent is the ListenerSet called claim, sorted.
func listRoutes(ctx context.Context, from client.Reader, gateways, claim, namespace string) ([]teamRoute, error) {
	options := []client.ListOption{client.InNamespace(namespace), client.MatchingFields{
		RouteIndex: gateways + "/" + claim,
	}, client.UnsafeDisableDeepCopy}
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
// claim. It counts what the routes declare, which does not change while the listener is closed.
func Needs(ctx context.Context, from client.Reader, gateways, claim, namespace, hostname string) (
	v1alpha1.LoadBalancerBudget, error,
) {
	d, err := readDemand(ctx, from, gateways, member{claim: claim, namespace: namespace, hostname: hostname})
	return d.needs, err
}

// demand is what the routes of a hostname need.
type demand struct {
	needs   v1alpha1.LoadBalancerBudget
	fault   string                    // what the load balancer does not support, and in which route; empty if nothing
	pending string                    // a route that the controller has not processed; empty if none
	rules   map[string]map[string]int // by host and route, for the routes that the controller accepts
	digest  string                    // of the specs, and of the objects they name; empty without routes
	// backends are the other objects from which the controller builds its model: Services, by namespace and name.
	backends map[client.ObjectKey]bool
}

func readDemand(ctx context.Context, from client.Reader, gateways string, m member) (demand, error) {
	d := demand{rules: map[string]map[string]int{}, backends: map[client.ObjectKey]bool{}}
	routes, err := listRoutes(ctx, from, gateways, m.claim, m.namespace)
	if err != nil {
		return d, err
	}
	groups, sum := map[string]bool{}, sha256.New()
	for i := range routes {
		r := &routes[i]
		if err := json.NewEncoder(sum).Encode([]any{r.kind, r.object.GetName(), r.spec}); err != nil {
			return d, fmt.Errorf("read the %s: %w", r, err)
		}
		d.digest = hex.EncodeToString(sum.Sum(nil)[:8])
		hosts := r.hosts(m.hostname)
		if len(hosts) == 0 {
			continue
		}
		if err := d.judge(r); err != nil {
			return d, err
		}
		n := r.count(groups, d.backends)
		d.needs.Rules += toInt32(n * len(hosts))
		d.expect(r, r.accepted(gateways, m.claim), hosts, n)
	}
	d.needs.TargetGroups = toInt32(len(groups))
	return d, nil
}

// expect records n rules for each host of a route that the controller accepts. A route without a condition is pending;
// so is one with NotAllowedByListeners, which dates from when the hostname was closed.
func (d *demand) expect(r *teamRoute, accepted *metav1.Condition, hosts []string, n int) {
	if (accepted == nil || accepted.Reason == string(gatewayv1.RouteReasonNotAllowedByListeners)) && d.pending == "" {
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

// longestLabel is the longest label of a hostname; the controller skips longer ones. Controller: routeutils/utils.go,
// IsHostNameInValidFormat.
const longestLabel = 63

// hosts returns the names that the listener and the route have in common; of two that overlap, the narrower. It
// compares strings as the controller does: a name that no certificate can have may still be one of a route. Controller:
// routeutils/utils.go, getCompatibleHostname.
func (r *teamRoute) hosts(listener string) []string {
	if len(r.hostnames) == 0 {
		return []string{listener}
	}
	var all []string
	for _, h := range r.hostnames {
		name := string(h)
		switch {
		case slices.ContainsFunc(strings.Split(name, "."), func(label string) bool {
			return len(label) > longestLabel
		}):
		case name == listener || covers(listener, name):
			all = append(all, name)
		case covers(name, listener):
			all = append(all, listener)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// covers reports whether the name is below the wildcard, at any depth.
func covers(wildcard, name string) bool {
	return strings.HasPrefix(wildcard, "*.") && strings.HasSuffix(name, wildcard[1:])
}

// count returns how many rules the route needs for each host, one per match, and adds its target groups and Services:
// the controller creates a target group for each route, Service and port.
func (r *teamRoute) count(groups map[string]bool, backends map[client.ObjectKey]bool) (rules int) {
	for _, one := range r.rules {
		rules += max(one.matches, 1)
		for _, b := range one.backends {
			key := r.backendKey(b)
			groups[fmt.Sprintf("%s %s:%d", r, key, portOf(b))], backends[key] = true, true
		}
	}
	return rules
}

func (r *teamRoute) backendKey(b gatewayv1.BackendRef) client.ObjectKey {
	key := client.ObjectKey{Namespace: r.object.GetNamespace(), Name: string(b.Name)}
	if b.Namespace != nil {
		key.Namespace = string(*b.Namespace)
	}
	return key
}

func portOf(b gatewayv1.BackendRef) int32 {
	if b.Port == nil {
		return 0
	}
	return *b.Port
}

// accepted returns the load balancer controller's current Accepted condition of the route for the ListenerSet; nil if
// there is none.
func (r *teamRoute) accepted(gateways, claim string) *metav1.Condition {
	for i := range r.status {
		s := &r.status[i]
		if s.ControllerName != albconfig.ControllerName || string(s.ParentRef.Name) != claim ||
			r.namespaceOf(&s.ParentRef) != gateways {
			continue
		}
		c := meta.FindStatusCondition(s.Conditions, string(gatewayv1.RouteConditionAccepted))
		if c != nil && c.ObservedGeneration == r.object.GetGeneration() {
			return c
		}
	}
	return nil
}
