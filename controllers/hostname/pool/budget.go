package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// RouteIndex of HTTPRoutes and GRPCRoutes by "namespace/name" of the ListenerSets that they name as parents.
const RouteIndex = "listenerset"

// ConditionBudget of a PoolGateway is False while hostnames are closed.
const ConditionBudget = "WithinBudget"

// teamRoute is what counts of an HTTPRoute or a GRPCRoute.
type teamRoute struct {
	kind, namespace string
	parents         []gatewayv1.ParentReference
	hostnames       []gatewayv1.Hostname
	rules           []rule
}

type rule struct {
	matches  int
	backends []gatewayv1.BackendRef
}

func teamRouteOf(obj client.Object) teamRoute {
	r := teamRoute{namespace: obj.GetNamespace()}
	switch o := obj.(type) {
	case *gatewayv1.HTTPRoute:
		r.kind, r.parents, r.hostnames = "HTTPRoute", o.Spec.ParentRefs, o.Spec.Hostnames
		for i := range o.Spec.Rules {
			one := rule{matches: len(o.Spec.Rules[i].Matches)}
			for _, b := range o.Spec.Rules[i].BackendRefs {
				one.backends = append(one.backends, b.BackendRef)
			}
			r.rules = append(r.rules, one)
		}
	case *gatewayv1.GRPCRoute:
		r.kind, r.parents, r.hostnames = "GRPCRoute", o.Spec.ParentRefs, o.Spec.Hostnames
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

// ListenerSetsOf returns the ListenerSets that a route names as parents, as RouteIndex has them.
func ListenerSetsOf(obj client.Object) []string {
	r := teamRouteOf(obj)
	var all []string
	for i := range r.parents {
		if p := &r.parents[i]; p.Kind != nil && *p.Kind == "ListenerSet" {
			namespace := r.namespace
			if p.Namespace != nil {
				namespace = string(*p.Namespace)
			}
			all = append(all, namespace+"/"+string(p.Name))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkBudgets counts what the routes of each hostname need, and closes those that need more than is kept for them.
func (r *reconciliation) checkBudgets(ctx context.Context) error {
	var closed []v1alpha1.ClosedHostname
	r.closed = map[string]bool{}
	for _, m := range r.members {
		needs, err := Needs(ctx, r.Applier.Client, r.pg.Namespace, m.claim, m.namespace, m.hostname)
		if err != nil {
			return err
		}
		budget, known := r.budgets[m.claim]
		if known && !needs.Within(budget) {
			r.closed[m.claim] = true
			closed = append(closed, v1alpha1.ClosedHostname{
				Claim: m.claim, Hostname: m.hostname, Namespace: m.namespace, Needs: needs, Budget: budget,
			})
		}
	}
	r.reportClosed(closed)
	r.pg.Status.Closed = closed
	return nil
}

// reportClosed names to admins the hostnames that are closed, and sends an event for each that was not.
func (r *reconciliation) reportClosed(closed []v1alpha1.ClosedHostname) {
	var texts []string
	for _, c := range closed {
		text := fmt.Sprintf("%s of namespace %s needs %s", c.Hostname, c.Namespace, Exceeds(c.Needs, c.Budget))
		texts = append(texts, text)
		if !slices.ContainsFunc(r.pg.Status.Closed, func(was v1alpha1.ClosedHostname) bool { return was.Claim == c.Claim }) {
			r.pass.Warning(v1alpha1.ReasonHostnameClosed, "CloseListener", "%s. No route is attached to it until its routes fit; all other hostnames are served", text)
		}
	}
	for _, was := range r.pg.Status.Closed {
		if !slices.ContainsFunc(closed, func(c v1alpha1.ClosedHostname) bool { return was.Claim == c.Claim }) {
			r.pass.Normal(v1alpha1.ReasonHostnameOpened, "OpenListener", "%s of namespace %s fits its budget", was.Hostname, was.Namespace)
		}
	}
	if len(closed) > 0 {
		r.pass.SetCondition(ConditionBudget, metav1.ConditionFalse, v1alpha1.ReasonOverBudget,
			strings.Join(texts, "; ")+". No route is attached to a closed hostname until its routes fit; all others are served")
		return
	}
	r.pass.SetCondition(ConditionBudget, metav1.ConditionTrue, v1alpha1.ReasonWithin, "no hostname needs more of the load balancer than is kept for it")
}

// Exceeds says what of needs is more than the budget: "14 rules (3 are kept for it)".
func Exceeds(needs, budget v1alpha1.LoadBalancerBudget) string {
	var texts []string
	if needs.Rules > budget.Rules {
		texts = append(texts, fmt.Sprintf("%d load balancer rules (%d are kept for it)", needs.Rules, budget.Rules))
	}
	if needs.TargetGroups > budget.TargetGroups {
		texts = append(texts, fmt.Sprintf("%d target groups (%d are kept for it)", needs.TargetGroups, budget.TargetGroups))
	}
	return strings.Join(texts, " and ")
}

// Needs returns what the routes of a namespace need of the load balancer for the hostname of the ListenerSet named claim.
// It counts what they ask for, which stays the same while the listener is closed.
func Needs(ctx context.Context, from client.Reader, gateways, claim, namespace, hostname string) (v1alpha1.LoadBalancerBudget, error) {
	var needs v1alpha1.LoadBalancerBudget
	name, err := dnsname.Parse(hostname)
	if err != nil {
		return needs, fmt.Errorf("count the rules of %s: %w", hostname, err)
	}
	options := []client.ListOption{client.InNamespace(namespace), client.MatchingFields{RouteIndex: gateways + "/" + claim}, client.UnsafeDisableDeepCopy}
	groups := map[string]bool{}
	for _, list := range []client.ObjectList{&gatewayv1.HTTPRouteList{}, &gatewayv1.GRPCRouteList{}} {
		if err := from.List(ctx, list, options...); err != nil {
			return needs, fmt.Errorf("list the routes at %s: %w", hostname, err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			needs.Rules += toInt32(teamRouteOf(o.(client.Object)).add(name, groups))
			return nil
		})
	}
	needs.TargetGroups = toInt32(len(groups))
	return needs, nil
}

// add returns how many rules the route needs at the listener's hostname, one for each match and each hostname that both
// have, and adds its target groups.
func (r teamRoute) add(listener dnsname.Name, groups map[string]bool) (rules int) {
	hostnames := 1
	if len(r.hostnames) > 0 {
		hostnames = 0
		for _, h := range r.hostnames {
			if own, err := dnsname.Parse(string(h)); err == nil && own.Overlaps(listener) {
				hostnames++
			}
		}
	}
	if hostnames == 0 {
		return 0
	}
	for _, one := range r.rules {
		rules += max(one.matches, 1) * hostnames
		for _, b := range one.backends {
			groups[r.group(b)] = true
		}
	}
	return rules
}

// group identifies the target group of a backend: of its own for each kind of route, Service and port.
func (r teamRoute) group(b gatewayv1.BackendRef) string {
	namespace, port := r.namespace, int32(0)
	if b.Namespace != nil {
		namespace = string(*b.Namespace)
	}
	if b.Port != nil {
		port = *b.Port
	}
	return fmt.Sprintf("%s %s/%s:%d", r.kind, namespace, b.Name, port)
}
