//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/controllers/hostname/pool"
	"github.com/portico-platform/portico/test/stack/albsim"
	"github.com/portico-platform/portico/test/tiers"
)

// followsFor checks that the load balancer still follows changes of the hostname: a new route is accepted, and deleted.
func followsFor(t *testing.T, c client.Client, r ghr, name string) {
	t.Helper()
	route := forwarding(r.Namespace, name, r.Status.ParentRef, r.Status.Hostname, pathOf("Exact", "/"+name))
	create(t, c, route)
	taken(t, c, route)
	if err := erase(t, c, route); err != nil {
		t.Fatal(err)
	}
}

// Each of these routes stops the real controller for all teams, if it was created before the policy or the cluster has
// no policies. The operator closes only its hostname, reports the fault to the team, the web app and admins, and opens
// the hostname when the route is deleted.
func TestNoRouteStopsASharedLoadBalancer(t *testing.T) {
	tiers.Long(t)
	c := withOperator(t)
	_, offender, neighbour := neighbours(t, c)
	bad := func(edit ...func(*gatewayv1.HTTPRouteRule)) *gatewayv1.HTTPRoute {
		return forwarding(offender.Namespace, "bad", offender.Status.ParentRef, offender.Status.Hostname, edit...)
	}
	defer withoutRoutePolicy(t, c, bad(weighing(1000)))()
	app := appOf(offender.Namespace, "shop")
	app.Spec.Expose = &v1alpha1.WebAppExpose{Hostname: offender.Name}
	create(t, c, app)
	ready(t, c, app)
	scenes := judgedRoutes()
	for i, name := range []string{
		"a wildcard in a prefix", "a header that is changed", "an answer's header", "requests to another as well",
		"origins of a browser (CORS)", "a wildcard in a redirect",
		"somebody's target group", "a path of 200 characters", "a header of 200 characters", "eight headers",
		"a weight of 1000",
		"a redirect to http", "a redirect to a long host", "the host as a header",
	} {
		t.Run(name, func(t *testing.T) {
			row := scenes[name]
			route := bad(row.edit...)
			create(t, c, route)
			told := reason(t, c, offender, v1alpha1.ReasonRouteUnsupported)
			if !strings.Contains(told.Message, "HTTPRoute "+offender.Namespace+"/bad: rule 1: ") && !strings.Contains(
				told.Message, "/bad: ") || !strings.Contains(told.Message, row.says) {
				t.Errorf("to the team: %q", told.Message)
			}
			followsFor(t, c, neighbour, fmt.Sprintf("scene-%d", i))
			await(t, "admins to be told", func() (bool, string) {
				got := saysOf(t, poolGateway(t, c, offender.Status.Gateway).Status.Conditions, pool.ConditionRoutes)
				return strings.HasPrefix(got, "RouteUnsupported: "+offender.Status.Hostname+" of namespace "+
					offender.Namespace) && strings.Contains(got, row.says), got
			})
			if i == 0 {
				if got := reason(t, c, app, v1alpha1.ReasonRouteUnsupported); !strings.Contains(got.Message, row.says) {
					t.Errorf("of the app: %q", got.Message)
				}
			}
			if err := erase(t, c, route); err != nil {
				t.Fatal(err)
			}
			ready(t, c, offender)
		})
	}
	ready(t, c, app)
}

// The controller compares hostnames as text: routes are counted even if a certificate cannot have their names.
func TestRoutesBelowAWildcardAreCountedWhateverTheirNames(t *testing.T) {
	c := withOperator(t)
	class := otherClass(t, c)
	ours, theirs := domainOf(t, c), domainOf(t, c)
	on := func(r ghr) { r.Spec.GatewayClass = class }
	offender, neighbour := ours.request("*."+ours.name, on), theirs.request("pay."+theirs.name, on)
	ready(t, c, offender)
	ready(t, c, neighbour)
	for _, host := range []string{"pr--7", "xn--a", strings.Repeat("a", 60)} {
		create(t, c, matching(routeOf(offender.Namespace, "of-"+host[:5], offender.Status.ParentRef,
			gatewayv1.Hostname(host+"."+ours.name)), 3))
	}
	if told := reason(t, c, offender, v1alpha1.ReasonOverBudget); !strings.Contains(
		told.Message, "its routes need 9 load balancer rules (3 are kept for it)") {
		await(t, "all routes to be counted", func() (bool, string) {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(offender), offender)
			text := saysOf(t, offender.Status.Conditions, v1alpha1.ConditionReady)
			return err == nil && strings.Contains(text, "its routes need 9 load balancer rules (3 are kept for it)"),
				text
		})
	}
	followsFor(t, c, neighbour, "beside-previews")
}

// The controller creates a target group for each route, Service and port.
func TestTargetGroupsAreCountedAsTheControllerMakesThem(t *testing.T) {
	c := withOperator(t)
	_, offender, neighbour := neighbours(t, c)
	for i := range 3 {
		create(t, c, forwarding(offender.Namespace, fmt.Sprintf("r%d", i), offender.Status.ParentRef,
			offender.Status.Hostname,
			pathOf("Exact", fmt.Sprintf("/%d", i)), func(r *gatewayv1.HTTPRouteRule) {
				r.BackendRefs = append(r.BackendRefs, r.BackendRefs[0])
				r.BackendRefs[1].Name = "other"
			}))
	}
	told := reason(t, c, offender, v1alpha1.ReasonOverBudget)
	if !strings.Contains(told.Message, "6 target groups (4 are kept for it)") {
		t.Errorf("%q", told.Message)
	}
	followsFor(t, c, neighbour, "counted")
}

// suspecting returns two hostnames on one load balancer, with an operator that suspects routes after seconds.
func suspecting(t *testing.T) (c client.Client, one, other ghr) {
	t.Helper()
	c = admin(t)
	startOperator(t, operatorOptions{patience: 16 * time.Second})
	_, one, other = neighbours(t, c)
	t.Cleanup(func() { world.LoadBalancers.SetUnforeseen(nil) })
	await(t, "the load balancer to follow", func() (bool, string) {
		f := poolGateway(t, c, one.Status.Gateway).Status.Following
		return f != nil && f.LostSince == nil && len(f.Followed) == 2, fmt.Sprintf("%+v", f)
	})
	return c, one, other
}

// A fault that Portico does not know: the hostname whose routes changed is closed and reported, and opened when they
// change again.
func TestWhatNobodyForesawClosesOneHostname(t *testing.T) {
	tiers.Long(t)
	for _, silent := range []bool{false, true} {
		t.Run(fmt.Sprintf("silent %v", silent), func(t *testing.T) {
			c, offender, neighbour := suspecting(t)
			world.LoadBalancers.SetUnforeseen(&albsim.Unforeseen{Path: "/unforeseen", Silent: silent})
			route := forwarding(offender.Namespace, "odd", offender.Status.ParentRef, offender.Status.Hostname,
				pathOf("Exact", "/unforeseen"))
			create(t, c, route)
			told := reason(t, c, offender, v1alpha1.ReasonRouteSuspected)
			if !strings.Contains(told.Message, "stopped to take changes after the routes of the hostname changed") {
				t.Errorf("to the team: %q", told.Message)
			}
			await(t, "the blame", func() (bool, string) {
				f := poolGateway(t, c, offender.Status.Gateway).Status.Following
				return f != nil && len(f.Blamed) == 1 && f.LostSince == nil, fmt.Sprintf("%+v", f)
			})
			g := poolGateway(t, c, offender.Status.Gateway)
			if got := saysOf(t, g.Status.Conditions, pool.ConditionRoutes); !strings.Contains(
				got, offender.Status.Hostname) || strings.Contains(got, neighbour.Status.Hostname) {
				t.Errorf("to admins: %q", got)
			}
			followsFor(t, c, neighbour, "goes-on")
			ready(t, c, neighbour)
			edit(t, c, route, func(r *gatewayv1.HTTPRoute) { *r.Spec.Rules[0].Matches[0].Path.Value = "/mended" })
			taken(t, c, route)
			ready(t, c, offender)
		})
	}
}

// One route of two hostnames stops the load balancer, and then another team changes its route: both hostnames are
// closed, and the other team's is open as soon as the load balancer follows changes again.
func TestARouteAtTwoHostnamesClosesBothAndNobodyElse(t *testing.T) {
	tiers.Long(t)
	for _, silent := range []bool{false, true} {
		t.Run(fmt.Sprintf("silent %v", silent), func(t *testing.T) {
			c, one, neighbour := suspecting(t)
			d := domain{t: t, c: c, ns: one.Namespace, zone: string(one.Spec.ZoneID)}
			two := d.request("www."+one.Namespace+".example", func(r ghr) {
				r.Spec.GatewayClass = one.Spec.GatewayClass
			})
			ready(t, c, two)
			ready(t, c, poolGateway(t, c, one.Status.Gateway))
			world.LoadBalancers.SetUnforeseen(&albsim.Unforeseen{Path: "/unforeseen", Silent: silent})
			route := forwarding(one.Namespace, "odd", one.Status.ParentRef, one.Status.Hostname,
				pathOf("Exact", "/unforeseen"))
			route.Spec.ParentRefs = append(route.Spec.ParentRefs,
				routeOf(one.Namespace, "x", two.Status.ParentRef).Spec.ParentRefs...)
			route.Spec.Hostnames = append(route.Spec.Hostnames, gatewayv1.Hostname(two.Status.Hostname))
			create(t, c, route)
			stands := func() bool { return poolGateway(t, c, one.Status.Gateway).Status.Following.LostSince != nil }
			await(t, "the load balancer to stand still", func() (bool, string) { return stands(), "it follows" })
			innocent := forwarding(neighbour.Namespace, "innocent", neighbour.Status.ParentRef,
				neighbour.Status.Hostname)
			create(t, c, innocent)
			for _, r := range []ghr{one, two} {
				reason(t, c, r, v1alpha1.ReasonRouteSuspected)
			}
			await(t, "the blame", func() (bool, string) {
				s := poolGateway(t, c, one.Status.Gateway).Status
				f := s.Following
				return len(f.Blamed) == 2 && len(f.Suspects) == 0 && f.LostSince == nil && len(s.Closed) == 2,
					fmt.Sprintf("%+v, closed %+v", f, s.Closed)
			})
			taken(t, c, innocent)
			ready(t, c, neighbour)
			followsFor(t, c, neighbour, "goes-on")
			if err := erase(t, c, route); err != nil {
				t.Fatal(err)
			}
			ready(t, c, one)
			ready(t, c, two)
		})
	}
}

// The load balancer stops for another reason: the hostname whose routes changed is closed once, and opened again.
func TestNobodyStaysClosedWhenClosingDoesNotHelp(t *testing.T) {
	tiers.Long(t)
	c, one, other := suspecting(t)
	class := &gatewayv1.GatewayClass{
		ObjectMeta: metav1.ObjectMeta{Name: poolGateway(t, c, one.Status.Gateway).Spec.GatewayClass},
	}
	nowhere := gatewayv1.Namespace(one.Namespace)
	edit(t, c, class, func(g *gatewayv1.GatewayClass) {
		g.Spec.ParametersRef = &gatewayv1.ParametersReference{
			Group: "gateway.k8s.aws", Kind: "LoadBalancerConfiguration", Name: "missing", Namespace: &nowhere,
		}
	})
	stopsAt(t, c, one)
	create(t, c, forwarding(one.Namespace, "changed", one.Status.ParentRef, one.Status.Hostname))
	reason(t, c, one, v1alpha1.ReasonRouteSuspected)
	g := poolGateway(t, c, one.Status.Gateway)
	await(t, "it to be opened", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(g), g)
		text := saysOf(t, g.Status.Conditions, v1alpha1.ConditionReady)
		return err == nil && len(g.Status.Closed) == 0 && strings.Contains(text, "did not help; they are open again"),
			text
	})
	if f := g.Status.Following; len(f.Blamed) > 0 || len(f.Cleared) != 1 ||
		slices.ContainsFunc(f.Cleared, func(h v1alpha1.HostnameRoutes) bool { return h.Claim == other.Status.Claim }) {
		t.Errorf("%+v", f)
	}
	edit(t, c, class, func(g *gatewayv1.GatewayClass) { g.Spec.ParametersRef = nil })
	ready(t, c, one)
	ready(t, c, g)
}

// No hostname is closed because the controller is away.
func TestNobodyIsClosedWhileTheControllerIsAway(t *testing.T) {
	c, one, _ := suspecting(t)
	world.LoadBalancers.Pause()
	defer world.LoadBalancers.Resume()
	route := forwarding(one.Namespace, "waits", one.Status.ParentRef, one.Status.Hostname)
	create(t, c, route)
	g := poolGateway(t, c, one.Status.Gateway)
	await(t, "admins to be told", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(g), g)
		text := saysOf(t, g.Status.Conditions, v1alpha1.ConditionReady)
		if len(g.Status.Closed) > 0 {
			t.Fatalf("closed: %+v", g.Status.Closed)
		}
		return err == nil && strings.Contains(text, "seems to be away"), text
	})
	world.LoadBalancers.Resume()
	taken(t, c, route)
	ready(t, c, g)
	if !poolGateway(t, c, g.Name).Status.Ready || len(g.Status.Following.Cleared) > 0 {
		t.Errorf("%+v", g.Status.Following)
	}
}

// The API server treats the listeners of a configuration as one value: what admins set remains when Portico writes its
// part.
func TestListenersThatAdminsConfigureStay(t *testing.T) {
	c := withOperator(t)
	class, one, _ := neighbours(t, c)
	config := &albconfig.LoadBalancerConfiguration{
		ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: one.Status.Gateway},
	}
	attributes := []albconfig.ListenerAttribute{{Key: "routing.http.response.server.enabled", Value: "false"}}
	edit(t, c, config, func(l *albconfig.LoadBalancerConfiguration) {
		l.Spec.ListenerConfigurations[0].ListenerAttributes = attributes
		l.Spec.ListenerConfigurations = append(l.Spec.ListenerConfigurations, albconfig.ListenerConfiguration{
			ProtocolPort: "HTTP:80", ListenerAttributes: attributes,
		})
	})
	d := domainOf(t, c)
	third := d.request("third."+d.name, func(r ghr) { r.Spec.GatewayClass = class })
	ready(t, c, third)
	ready(t, c, poolGateway(t, c, one.Status.Gateway))
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
		t.Fatal(err)
	}
	all := config.Spec.ListenerConfigurations
	if len(all) != 2 || len(all[0].Certificates) != 2 || all[1].ProtocolPort != "HTTP:80" {
		t.Fatalf("listeners = %+v, want two: with two certificates, and HTTP:80", all)
	}
	for i := range all {
		if got := all[i].ListenerAttributes; !slices.Equal(got, attributes) {
			t.Errorf("attributes of listener %d = %+v, want %+v", i, got, attributes)
		}
	}
	edit(t, c, config, func(l *albconfig.LoadBalancerConfiguration) {
		l.Spec.ListenerConfigurations[0].SSLPolicy = "ELBSecurityPolicy-2016-08"
	})
	await(t, "the policy to be ours", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(config), config)
		l := config.Spec.ListenerConfigurations
		return err == nil && l[0].SSLPolicy != "ELBSecurityPolicy-2016-08" && len(l) == 2, fmt.Sprintf("%+v", l)
	})
}

// The numbers in a PoolGateway's status match the load balancer soon after routes change, without a request.
func TestThePoolGatewayShowsTheRulesThatThereAre(t *testing.T) {
	c := withOperator(t)
	_, one, _ := neighbours(t, c)
	shows := func(rules int32) {
		t.Helper()
		await(t, fmt.Sprintf("%d rules to be shown", rules), func() (bool, string) {
			s := poolGateway(t, c, one.Status.Gateway).Status
			return s.Rules == rules && s.Ready, fmt.Sprintf("%d rules", s.Rules)
		})
	}
	shows(2)
	route := matching(routeOf(one.Namespace, "three", one.Status.ParentRef, gatewayv1.Hostname(one.Status.Hostname)), 3)
	create(t, c, route)
	shows(5)
	if err := erase(t, c, route); err != nil {
		t.Fatal(err)
	}
	shows(2)
}

// While a deletion continues, the status does not say that records exist which have been deleted.
func TestADeletionShowsThatTheRecordsAreGone(t *testing.T) {
	c := withOperator(t)
	_, one, _ := neighbours(t, c)
	world.LoadBalancers.Pause()
	defer world.LoadBalancers.Resume()
	if err := erase(t, c, one); err != nil {
		t.Fatal(err)
	}
	await(t, "the records to be gone", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(one), one)
		got := meta.FindStatusCondition(one.Status.Conditions, v1alpha1.StepDNSAliasReady)
		return err == nil && one.Status.LoadBalancer == "" && got.Status == metav1.ConditionFalse &&
			got.Reason == v1alpha1.ReasonRemoved, fmt.Sprint(got)
	})
	world.LoadBalancers.Resume()
	awaitGone(t, c, one)
}
