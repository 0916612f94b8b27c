//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// developer returns a client that has the role portico-developer in a namespace, and no other permissions.
func developer(t *testing.T, c client.Client, ns string) client.Client {
	t.Helper()
	name := "dev-of-" + ns
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: name}},
	})
	cfg := rest.CopyConfig(world.Admin)
	cfg.Impersonate.UserName = name
	as, err := client.New(cfg, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return as
}

func routeOf(ns, name string, parent *v1alpha1.HostnameParentRef, hosts ...gatewayv1.Hostname) *gatewayv1.HTTPRoute {
	r := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	r.Spec.Hostnames = hosts
	if parent != nil {
		kind, space, section := gatewayv1.Kind(parent.Kind), gatewayv1.Namespace(parent.Namespace),
			gatewayv1.SectionName(parent.SectionName)
		r.Spec.ParentRefs = []gatewayv1.ParentReference{
			{Kind: &kind, Namespace: &space, Name: gatewayv1.ObjectName(parent.Name), SectionName: &section},
		}
	}
	return r
}

// matching gives the route one rule with n matches.
func matching(r *gatewayv1.HTTPRoute, n int) *gatewayv1.HTTPRoute {
	exact := gatewayv1.PathMatchExact
	var rule gatewayv1.HTTPRouteRule
	for i := range n {
		path := fmt.Sprintf("/%s/%d", r.Name, i)
		rule.Matches = append(rule.Matches, gatewayv1.HTTPRouteMatch{
			Path: &gatewayv1.HTTPPathMatch{Type: &exact, Value: &path},
		})
	}
	r.Spec.Rules = append(r.Spec.Rules, rule)
	return r
}

// twice gives the route a second parent.
func twice(r *gatewayv1.HTTPRoute) *gatewayv1.HTTPRoute {
	other := *r.Spec.ParentRefs[0].DeepCopy()
	other.Name = "dc-2"
	r.Spec.ParentRefs = append(r.Spec.ParentRefs, other)
	return r
}

// judged checks that admission refuses an object because of the text, or accepts it if the text is empty.
func judged(t *testing.T, what string, err error, says string) {
	t.Helper()
	if apierrors.IsForbidden(err) != (says != "") || says == "" && err != nil {
		t.Errorf("%s: admission says %v, want it forbidden: %v", what, err, says != "")
	}
	if !strings.Contains(fmt.Sprint(err), says) {
		t.Errorf("%s: admission says %v, want %q in it", what, err, says)
	}
}

// The policy limits routes of teams to what their HostnameGrant allows, regardless of who writes them.
func TestRoutesAreKeptToTheGrant(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	dev := developer(t, c, ns)
	ours := &v1alpha1.HostnameParentRef{Kind: "ListenerSet", Namespace: gateways, Name: "dc-1", SectionName: "https"}
	grant := &v1alpha1.HostnameGrant{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: v1alpha1.HostnameGrantName}, Spec: v1alpha1.HostnameGrantSpec{Suffixes: []string{"shop.example", "cart.example"}},
	}
	await(t, "the policy to hold", func() (bool, string) {
		err := dev.Create(t.Context(), routeOf(ns, "early", ours, "shop.example"), client.DryRunAll)
		return err != nil, "a route without a grant is let in"
	})
	create(t, c, grant)
	await(t, "the grant to be known", func() (bool, string) {
		err := dev.Create(t.Context(), routeOf(ns, "early", ours, "shop.example"), client.DryRunAll)
		return err == nil, "refused"
	})
	for name, row := range map[string]struct {
		route *gatewayv1.HTTPRoute
		says  string
	}{
		"a name below":                     {routeOf(ns, "a", ours, "www.shop.example", "cart.example"), ""},
		"a name of another team":           {routeOf(ns, "b", ours, "shop.example", "pay.example"), "does not allow pay.example: it allows names below shop.example, cart.example"},
		"a suffix is no string":            {routeOf(ns, "c", ours, "workshop.example"), "does not allow workshop.example"},
		"a wildcard":                       {routeOf(ns, "d", ours, "*.shop.example"), "allows no wildcards"},
		"no hostname, and our listener":    {routeOf(ns, "e", ours), ""},
		"no hostname, and another Gateway": {routeOf(ns, "f", &v1alpha1.HostnameParentRef{Kind: "Gateway", Namespace: gateways, Name: "gw-00", SectionName: "https"}), "a route needs spec.hostnames"},
		"no hostname, and another's set":   {routeOf(ns, "g", &v1alpha1.HostnameParentRef{Kind: "ListenerSet", Namespace: ns, Name: "mine", SectionName: "https"}), "a route needs spec.hostnames"},
		"no hostname and no parent":        {routeOf(ns, "h", nil), ""},
		"three matches":                    {matching(routeOf(ns, "i", ours, "shop.example"), 3), ""},
		"four matches": {
			matching(routeOf(ns, "j", ours, "shop.example"), 4),
			"this route needs 4 rules of a load balancer that other teams use too, one for each match and hostname, " +
				"and the HostnameGrant of this namespace allows 3 for a hostname",
		},
		"two matches at two names":       {matching(routeOf(ns, "l", ours, "a.shop.example", "b.shop.example"), 2), "this route needs 4 rules"},
		"two matches at two listeners":   {twice(matching(routeOf(ns, "m", ours, "a.shop.example", "b.shop.example"), 2)), ""},
		"four on a Gateway of one's own": {matching(routeOf(ns, "k", &v1alpha1.HostnameParentRef{Kind: "Gateway", Namespace: ns, Name: "mine", SectionName: "https"}, "shop.example"), 4), ""},
	} {
		err := dev.Create(t.Context(), row.route)
		judged(t, name, err, row.says)
	}
	grpc := &gatewayv1.GRPCRoute{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "grpc"},
		Spec:       gatewayv1.GRPCRouteSpec{Hostnames: []gatewayv1.Hostname{"pay.example"}},
	}
	if err := dev.Create(t.Context(), grpc); !apierrors.IsForbidden(err) {
		t.Errorf("a GRPCRoute: %v", err)
	}

	route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}}
	change := func(edit func(*gatewayv1.HTTPRoute)) error {
		if err := dev.Get(t.Context(), client.ObjectKeyFromObject(route), route); err != nil {
			t.Fatal(err)
		}
		edit(route)
		return dev.Update(t.Context(), route)
	}
	if err := change(func(r *gatewayv1.HTTPRoute) {
		r.Spec.Hostnames = append(r.Spec.Hostnames, "pay.example")
	}); !apierrors.IsForbidden(err) {
		t.Errorf("an edit to a name of another team: %v", err)
	}
	edit(t, c, grant, func(g *v1alpha1.HostnameGrant) { g.Spec.Suffixes = []string{"other.example"} })
	await(t, "the narrower grant to be known", func() (bool, string) {
		err := dev.Create(t.Context(), routeOf(ns, "late", ours, "shop.example"), client.DryRunAll)
		return apierrors.IsForbidden(err), "let in"
	})
	if err := change(func(r *gatewayv1.HTTPRoute) { r.Labels = map[string]string{"a": "b"} }); err != nil {
		t.Errorf("a label on a route that was allowed: %v", err)
	}
	another := team(t, c)
	if err := c.Create(t.Context(), routeOf(another, "free", nil, "anything.example")); err == nil ||
		!strings.Contains(err.Error(), "no params found") {
		t.Errorf("a namespace without a grant: %v", err)
	}
	edit(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: another}}, func(n *corev1.Namespace) {
		n.Labels["portico.dev/routes"] = "unrestricted"
	})
	await(t, "the namespace to be left alone", func() (bool, string) {
		err := c.Create(t.Context(), routeOf(another, "free", nil, "anything.example"))
		return err == nil, fmt.Sprint(err)
	})
}

// Teams can write no objects of the pool, and none that decide who can have which hostname.
func TestTeamsHaveNoRightsInThePool(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	dev := developer(t, c, ns)
	for _, obj := range []client.Object{
		&gatewayv1.Gateway{
			ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "mine"},
			Spec: gatewayv1.GatewaySpec{
				GatewayClassName: "alb", Listeners: []gatewayv1.Listener{
					{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType},
				},
			},
		},
		&gatewayv1.ListenerSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "mine"},
			Spec: gatewayv1.ListenerSetSpec{
				ParentRef: gatewayv1.ParentGatewayReference{Name: "gw-00"}, Listeners: []gatewayv1.ListenerEntry{{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType}},
			},
		},
		&albconfig.LoadBalancerConfiguration{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "mine"}},
		&v1alpha1.PoolGateway{
			ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "gw-99"},
			Spec: v1alpha1.PoolGatewaySpec{
				Visibility: v1alpha1.Internal, GatewayClass: "alb", ProviderRef: v1alpha1.LocalRef{Name: "p"},
				AccountID: "123456789012", Region: "eu-west-1",
			},
		},
		&v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: "dc-mine"}, Spec: v1alpha1.DomainClaimSpec{
			Hostname: "shop.example", Visibility: v1alpha1.Internal, Gateway: "gw-00", Holder: v1alpha1.ClaimHolder{
				Namespace: ns, Name: "a", UID: "b",
			},
		}},
		&v1alpha1.HostnameGrant{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: v1alpha1.HostnameGrantName},
			Spec:       v1alpha1.HostnameGrantSpec{Suffixes: []string{"example.com"}},
		},
	} {
		if err := dev.Create(t.Context(), obj); !apierrors.IsForbidden(err) {
			t.Errorf("%T: %v", obj, err)
		}
	}
	if err := dev.List(t.Context(), &v1alpha1.DomainClaimList{}); !apierrors.IsForbidden(err) {
		t.Errorf("claims of everybody: %v", err)
	}
	if err := dev.List(t.Context(), &v1alpha1.HostnameGrantList{}, client.InNamespace(ns)); err != nil {
		t.Errorf("the team's own grant: %v", err)
	}
}

// An Ingress, another way to get a hostname, is limited to the grant as well.
func TestIngressesAreKeptToTheGrant(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	ingress := func(name string, change func(*networkingv1.IngressSpec), hosts ...string) *networkingv1.Ingress {
		backend := networkingv1.IngressBackend{
			Service: &networkingv1.IngressServiceBackend{Name: "shop", Port: networkingv1.ServiceBackendPort{
				Number: 80,
			}},
		}
		prefix := networkingv1.PathTypePrefix
		i := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
		for _, h := range hosts {
			i.Spec.Rules = append(i.Spec.Rules, networkingv1.IngressRule{
				Host: h, IngressRuleValue: networkingv1.IngressRuleValue{
					HTTP: &networkingv1.HTTPIngressRuleValue{
						Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: &prefix, Backend: backend}},
					},
				},
			})
		}
		if change != nil {
			change(&i.Spec)
		}
		return i
	}
	kube, err := client.New(world.Admin, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the policy to hold", func() (bool, string) {
		err := kube.Create(t.Context(), ingress("early", nil, "shop.example"), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "no params found"), "an Ingress without a grant is let in"
	})
	create(t, c, &v1alpha1.HostnameGrant{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: v1alpha1.HostnameGrantName}, Spec: v1alpha1.HostnameGrantSpec{Suffixes: []string{"shop.example"}},
	})
	await(t, "the grant to be known", func() (bool, string) {
		err := kube.Create(t.Context(), ingress("early", nil, "shop.example"), client.DryRunAll)
		return err == nil, fmt.Sprint(err)
	})
	for name, row := range map[string]struct {
		made *networkingv1.Ingress
		says string
	}{
		"a name below":            {ingress("a", nil, "www.shop.example"), ""},
		"a name of another team":  {ingress("b", nil, "shop.example", "pay.example"), "does not allow pay.example"},
		"a wildcard":              {ingress("c", nil, "*.shop.example"), "allows no wildcards"},
		"a rule without a host":   {ingress("d", nil, "shop.example", ""), "an Ingress without hosts answers at every hostname"},
		"a backend for all names": {ingress("e", func(s *networkingv1.IngressSpec) { s.DefaultBackend = &s.Rules[0].HTTP.Paths[0].Backend }, "shop.example"), "leave defaultBackend out"},
		"another name in TLS":     {ingress("f", func(s *networkingv1.IngressSpec) { s.TLS = []networkingv1.IngressTLS{{Hosts: []string{"pay.example"}}} }, "shop.example"), "a host in spec.tls"},
		"the same name in TLS": {ingress("g", func(s *networkingv1.IngressSpec) {
			s.TLS = []networkingv1.IngressTLS{{Hosts: []string{"shop.example"}}}
		}, "shop.example"), ""},
	} {
		err := kube.Create(t.Context(), row.made)
		judged(t, name, err, row.says)
	}
}
