package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// parents returns parentRefs to ListenerSets of the pool.
func parents(claims ...string) []gatewayv1.ParentReference {
	kind, namespace := gatewayv1.Kind("ListenerSet"), gatewayv1.Namespace(space)
	var all []gatewayv1.ParentReference
	for _, c := range claims {
		all = append(all, gatewayv1.ParentReference{Kind: &kind, Namespace: &namespace, Name: gatewayv1.ObjectName(c)})
	}
	return all
}

// routeTo returns an HTTPRoute of team payments with one rule for each backend, each with this number of matches.
func routeTo(name, claim string, matches int, backends ...string) *gatewayv1.HTTPRoute {
	r := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name}}
	r.Spec.ParentRefs = parents(claim)
	port := gatewayv1.PortNumber(80)
	for _, b := range backends {
		one := gatewayv1.HTTPRouteRule{Matches: make([]gatewayv1.HTTPRouteMatch, matches)}
		one.BackendRefs = []gatewayv1.HTTPBackendRef{
			{BackendRef: gatewayv1.BackendRef{BackendObjectReference: gatewayv1.BackendObjectReference{
				Name: gatewayv1.ObjectName(b), Port: &port,
			}}},
		}
		r.Spec.Rules = append(r.Spec.Rules, one)
	}
	return r
}

func TestWhatRoutesNeedOfALoadBalancer(t *testing.T) {
	with := func(r *gatewayv1.HTTPRoute, hosts ...gatewayv1.Hostname) *gatewayv1.HTTPRoute {
		r.Spec.Hostnames = hosts
		return r
	}
	grpc := &gatewayv1.GRPCRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "grpc"}}
	grpc.Spec.ParentRefs = parents("dc-a")
	grpc.Spec.Rules = []gatewayv1.GRPCRouteRule{
		{Matches: make([]gatewayv1.GRPCRouteMatch, 2), BackendRefs: []gatewayv1.GRPCBackendRef{
			{BackendRef: gatewayv1.BackendRef{BackendObjectReference: gatewayv1.BackendObjectReference{Name: "s"}}},
		}},
	}
	foreign := routeTo("foreign", "dc-a", 9, "s")
	foreign.Namespace = "search"
	for name, row := range map[string]struct {
		hostname string
		routes   []client.Object
		want     v1alpha1.LoadBalancerBudget
	}{
		"none":                     {"a.example", nil, v1alpha1.LoadBalancerBudget{}},
		"one rule without matches": {"a.example", []client.Object{routeTo("r", "dc-a", 0, "s")}, v1alpha1.LoadBalancerBudget{Rules: 1, TargetGroups: 1}},
		"each match is a rule":     {"a.example", []client.Object{routeTo("r", "dc-a", 16, "s", "s")}, v1alpha1.LoadBalancerBudget{Rules: 32, TargetGroups: 1}},
		"each route has target groups of its own": {
			"a.example",
			[]client.Object{routeTo("r", "dc-a", 1, "s", "t"), routeTo("q", "dc-a", 1, "s", "t")},
			v1alpha1.LoadBalancerBudget{Rules: 4, TargetGroups: 4},
		},
		"each Service is a target group": {"a.example", []client.Object{routeTo("r", "dc-a", 1, "s", "t")}, v1alpha1.LoadBalancerBudget{Rules: 2, TargetGroups: 2}},
		"routes add up":                  {"a.example", []client.Object{routeTo("r", "dc-a", 1, "s"), routeTo("q", "dc-a", 1, "s"), grpc}, v1alpha1.LoadBalancerBudget{Rules: 4, TargetGroups: 3}},
		"those of another hostname":      {"a.example", []client.Object{routeTo("r", "dc-b", 3, "s")}, v1alpha1.LoadBalancerBudget{}},
		"those of another namespace":     {"a.example", []client.Object{foreign}, v1alpha1.LoadBalancerBudget{}},
		"a route for other names":        {"a.example", []client.Object{with(routeTo("r", "dc-a", 3, "s"), "b.example")}, v1alpha1.LoadBalancerBudget{}},
		"a route for this name and more": {"a.example", []client.Object{with(routeTo("r", "dc-a", 3, "s"), "b.example", "a.example")}, v1alpha1.LoadBalancerBudget{Rules: 3, TargetGroups: 1}},
		"names below a wildcard multiply": {
			"*.team.example",
			[]client.Object{
				with(routeTo("r", "dc-a", 3, "s"), "b.team.example", "a.team.example", "other.example"),
			},
			v1alpha1.LoadBalancerBudget{Rules: 6, TargetGroups: 1},
		},
	} {
		c := cluster(t, interceptor.Funcs{}, row.routes...)
		got, err := Needs(t.Context(), c, space, "dc-a", "payments", row.hostname)
		if err != nil || got != row.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func claimOf(name string, budget v1alpha1.LoadBalancerBudget) *v1alpha1.DomainClaim {
	return &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: "dc-" + name}, Spec: v1alpha1.DomainClaimSpec{
		Hostname: name + ".example", Gateway: "gw-00", Budget: budget,
	}}
}

// Only the hostname that exceeds its budget is closed, and it is opened when it fits.
func TestOnlyWhoExceedsItsBudgetIsClosed(t *testing.T) {
	live, pass := serving(t, served("a"), served("b"), served("old"))
	for _, o := range []client.Object{
		claimOf("a", small), claimOf("b", small), claimOf("old", v1alpha1.LoadBalancerBudget{}),
		routeTo("one", "dc-a", 2, "s"), routeTo("two", "dc-a", 2, "s"), routeTo("fits", "dc-b", 3, "s"),
		routeTo("before", "dc-old", 9, "s"),
	} {
		if err := live.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	_ = pass(nil)
	for claim, want := range map[string]gatewayv1.FromNamespaces{
		"dc-a": gatewayv1.NamespacesFromSame,
		"dc-b": gatewayv1.NamespacesFromSelector, "dc-old": gatewayv1.NamespacesFromSelector,
	} {
		if got := opensTo(t, live, claim); got != want {
			t.Errorf("%s is open to %s", claim, got)
		}
	}
	if err := live.Delete(t.Context(), routeTo("two", "dc-a", 2, "s")); err != nil {
		t.Fatal(err)
	}
	_ = pass(nil)
	if got := opensTo(t, live, "dc-a"); got != gatewayv1.NamespacesFromSelector {
		t.Errorf("it fits again, and is open to %s", got)
	}
}

func opensTo(t *testing.T, c client.Client, claim string) gatewayv1.FromNamespaces {
	t.Helper()
	set := &gatewayv1.ListenerSet{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: space, Name: claim}, set); err != nil {
		t.Fatal(err)
	}
	return *set.Spec.Listeners[0].AllowedRoutes.Namespaces.From
}

func TestAdminsAreToldWhoIsClosedAndWhoIsOpened(t *testing.T) {
	pass := engine.NewPass(nil)
	r := &reconciliation{pg: gatewayOf("gw-00", nil), pass: pass}
	closed := []v1alpha1.ClosedHostname{
		{
			Claim: "dc-a", Hostname: "a.example", Namespace: "payments", Reason: v1alpha1.ReasonOverBudget,
			Needs: v1alpha1.LoadBalancerBudget{Rules: 14, TargetGroups: 5}, Budget: small,
		},
	}
	for range 2 {
		r.reportClosed(closed)
		r.pg.Status.Closed = closed
	}
	if _, reason, text := pass.Condition(ConditionBudget); reason != v1alpha1.ReasonOverBudget ||
		!strings.HasPrefix(text, "a.example of namespace payments needs 14 load balancer rules (3 are kept for it) "+
			"and 5 target groups (4 are kept for it)") {
		t.Errorf("%s: %s", reason, text)
	}
	r.reportClosed(nil)
	if status, _, _ := pass.Condition(ConditionBudget); status != metav1.ConditionTrue {
		t.Error(status)
	}
	if got := pass.Strings(); len(got) != 2 ||
		!strings.HasPrefix(got[0], "HostnameClosed: a.example of namespace payments") ||
		!strings.HasPrefix(got[1], "HostnameOpened: a.example") {
		t.Errorf("%q", got)
	}
}

func TestAPoolGatewayWithoutHostnamesGoes(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, row := range map[string]struct {
		age      time.Duration
		places   int32
		retired  bool
		waits    time.Duration
		deleting bool
	}{
		"just made, for a hostname that is about to come": {age: 10 * time.Second, waits: 50 * time.Second},
		"a place is taken":    {age: time.Hour, places: 1},
		"nobody needs it":     {age: time.Hour, retired: true},
		"it is being deleted": {age: time.Hour, deleting: true},
	} {
		var retired []string
		g := gatewayOf("gw-00", func(g *v1alpha1.PoolGateway) {
			g.CreationTimestamp, g.Status.Hostnames = metav1.Time{Time: now.Add(-row.age)}, row.places
			if row.deleting {
				g.DeletionTimestamp = &metav1.Time{Time: now}
			}
		})
		r := &reconciliation{pg: g, Reconciler: Reconciler{
			MinAge: time.Minute, Now: func() time.Time { return now },
			DeleteUnused: func(_ context.Context, g *v1alpha1.PoolGateway) error {
				retired = append(retired, g.Name)
				return nil
			},
		}}
		_, err := r.deleteUnused(t.Context(), "idle")
		wait, _ := engine.AsWait(err)
		if (wait != nil) != (row.waits > 0) || wait != nil && wait.After != row.waits {
			t.Errorf("%s: error = %v, want a pause of %s", name, err, row.waits)
		}
		if slices.Equal(retired, []string{"gw-00"}) != row.retired {
			t.Errorf("%s: retired %v, want gw-00: %v", name, retired, row.retired)
		}
	}
}

// Hostnames that were served stay served when the load balancer controller fails; others do not count as served.
func TestAGatewayInTroubleServesOn(t *testing.T) {
	refused := metav1.Condition{
		Type: "Accepted", Status: metav1.ConditionFalse, Reason: "Invalid",
		Message: "Check Gateway Events for more information.",
	}
	for reason, serving := range map[string]bool{v1alpha1.ReasonChangesWait: true, "GatewayFailed": false} {
		r := &reconciliation{pg: gatewayOf("gw-00", func(g *v1alpha1.PoolGateway) {
			if serving {
				g.Status.LoadBalancer, g.Status.Attached = &v1alpha1.PoolLoadBalancer{}, []string{"arn"}
			}
		}), members: []member{{}}}
		r.gateway.Status.Conditions = []metav1.Condition{refused}
		_, err := r.checkProgrammed(t.Context())
		if wait, ok := engine.AsWait(err); !ok || wait.Reason != reason ||
			!strings.Contains(fmt.Sprint(err), "kubectl describe gateway gw-00 -n portico-gateways") {
			t.Errorf("serving %v: %v", serving, err)
		}
	}
}
