//go:build integration

package stack_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/tiers"
)

func TestWhatAWSRefusesFailsTheWholeGateway(t *testing.T) {
	e := newEdge(t)
	certificates := e.certificates(26)
	config := e.configuration(certificates[:2]...)
	gateway := e.gateway(config.Name)
	e.keeper()
	balancer := e.programmed(gateway)
	for _, tt := range []struct {
		reason, says string
		certificates []string
	}{
		{"more certificates than a load balancer has", "TooManyCertificates", certificates[1:]},
		{"a certificate that is not there", "CertificateNotFound", []string{strings.Replace(certificates[1], "certificate/", "certificate/0", 1)}},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			e.change(config, func() { config.Spec.ListenerConfigurations[0].Certificates = tt.certificates })
			e.failed(gateway, tt.says)
			if e.listener(balancer, 443) == nil {
				t.Error("what was built before is gone")
			}
		})
	}
	e.change(config, func() { config.Spec.ListenerConfigurations[0].Certificates = certificates[1:2] })
	e.programmed(gateway)
}

func TestAtTheMostRulesTheServedOnesStay(t *testing.T) {
	tiers.Long(t)
	e := newEdge(t)
	gateway := e.gateway(e.configuration(e.certificates(1)...).Name)
	e.keeper()
	e.service(e.infra)
	e.set(e.infra)
	e.route(e.infra, "few", "shop")
	balancer := e.programmed(gateway)
	rules := func() int { return len(e.rules(e.listener(balancer, 443))) }
	eventually(t, "the route is served", patience, func(context.Context) (bool, error) { return rules() >= 2, nil })
	many := e.route(e.infra, "many", "shop")
	eventually(t, "the second is too", patience, func(context.Context) (bool, error) { return rules() == 3, nil })
	e.change(many, func() {
		for i := range 100 {
			path, exact := fmt.Sprintf("/%d", i), gatewayv1.PathMatchExact
			if i%10 == 0 {
				many.Spec.Rules = append(many.Spec.Rules, *many.Spec.Rules[0].DeepCopy())
			}
			last := &many.Spec.Rules[len(many.Spec.Rules)-1]
			last.Matches = append(last.Matches, gatewayv1.HTTPRouteMatch{
				Path: &gatewayv1.HTTPPathMatch{Type: &exact, Value: &path},
			})
		}
	})
	e.failed(gateway, "too many attached")
	if after := rules(); after < 3 {
		t.Errorf("%d rules, and 3 before", after)
	}
	e.drop(many)
	eventually(t, "the first alone is served", 4*patience, func(context.Context) (bool, error) {
		return rules() == 2, nil
	})
}

// TestOneRouteFailsTheWholeGateway checks routes that are accepted and nevertheless fail the whole Gateway.
func TestOneRouteFailsTheWholeGateway(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway(e.configuration(e.certificates(1)...).Name)
	e.keeper()
	e.service(e.infra)
	e.set(e.infra)
	route := e.route(e.infra, "shop", "shop")
	e.programmed(gateway)
	good := route.Spec.DeepCopy()
	path := func(kind gatewayv1.PathMatchType, value string) func(*gatewayv1.HTTPRouteRule) {
		return func(r *gatewayv1.HTTPRouteRule) {
			r.Matches = []gatewayv1.HTTPRouteMatch{{Path: &gatewayv1.HTTPPathMatch{Type: &kind, Value: &value}}}
		}
	}
	full, group := "/a*", gatewayv1.Kind("TargetGroupName")
	for _, tt := range []struct {
		says string
		edit func(*gatewayv1.HTTPRouteRule)
	}{
		{"prefix path shouldn't contain wildcards: /a*b", path(gatewayv1.PathMatchPathPrefix, "/a*b")},
		{"too many characters; the limit is '128'", path(gatewayv1.PathMatchExact, "/"+strings.Repeat("a", 200))},
		{"Unsupported filter type: RequestHeaderModifier", func(r *gatewayv1.HTTPRouteRule) {
			r.Filters = []gatewayv1.HTTPRouteFilter{{
				Type:                  gatewayv1.HTTPRouteFilterRequestHeaderModifier,
				RequestHeaderModifier: &gatewayv1.HTTPHeaderFilter{Remove: []string{"x"}},
			}}
		}},
		{"ReplaceFullPath shouldn't contain wildcards: /a*", func(r *gatewayv1.HTTPRouteRule) {
			r.BackendRefs, r.Filters = nil, []gatewayv1.HTTPRouteFilter{{
				Type: gatewayv1.HTTPRouteFilterRequestRedirect,
				RequestRedirect: &gatewayv1.HTTPRequestRedirectFilter{
					Path: &gatewayv1.HTTPPathModifier{
						Type: gatewayv1.FullPathHTTPPathModifier, ReplaceFullPath: &full,
					},
				},
			}}
		}},
		{"find the target group nowhere", func(r *gatewayv1.HTTPRouteRule) { r.BackendRefs[0].Kind, r.BackendRefs[0].Name = &group, "nowhere" }},
		{"A rule can have '5' condition values", func(r *gatewayv1.HTTPRouteRule) {
			prefix := gatewayv1.PathMatchPathPrefix
			path(prefix, "/a")(r)
			for i := range 3 {
				r.Matches[0].Headers = append(r.Matches[0].Headers, gatewayv1.HTTPHeaderMatch{
					Name: gatewayv1.HTTPHeaderName(fmt.Sprintf("x-%d", i)), Value: "1",
				})
			}
		}},
	} {
		t.Run(tt.says, func(*testing.T) {
			e.change(route, func() { good.DeepCopyInto(&route.Spec); tt.edit(&route.Spec.Rules[0]) })
			e.failed(gateway, tt.says)
			e.until("the route says that it is accepted", route, func() bool {
				return len(route.Status.Parents) == 1 && is(route.Status.Parents[0].Conditions, route.Generation,
					"Accepted", metav1.ConditionTrue, "")
			})
		})
	}
	e.change(route, func() { good.DeepCopyInto(&route.Spec) })
	e.programmed(gateway)
}

// TestAWeightTooGreatStopsTheControllerInSilence checks that no status reports the fault: the Gateway's status stays as
// before, and the controller writes none for the route or another one.
func TestAWeightTooGreatStopsTheControllerInSilence(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway(e.configuration(e.certificates(1)...).Name)
	e.keeper()
	e.service(e.infra)
	e.set(e.infra)
	route := e.route(e.infra, "shop", "shop")
	e.programmed(gateway)
	failures := s.LoadBalancers.Counts().Failures
	e.change(route, func() { weight := int32(1000); route.Spec.Rules[0].BackendRefs[0].Weight = &weight })
	eventually(t, "the controller fails", patience, func(context.Context) (bool, error) {
		return s.LoadBalancers.Counts().Failures > failures, nil
	})
	other := e.route(e.infra, "other", "shop")
	failures = s.LoadBalancers.Counts().Failures
	eventually(t, "it fails again", patience, func(context.Context) (bool, error) {
		return s.LoadBalancers.Counts().Failures > failures, nil
	})
	e.until("the Gateway is read", gateway, func() bool { return true })
	e.until("the other route is read", other, func() bool { return true })
	if !is(gateway.Status.Conditions, gateway.Generation, "Accepted", metav1.ConditionTrue, "") ||
		len(other.Status.Parents) > 0 {
		t.Errorf("Gateway %+v, route %+v", gateway.Status.Conditions, other.Status.Parents)
	}
	e.change(route, func() { route.Spec.Rules[0].BackendRefs[0].Weight = nil })
	e.until("the other route is taken", other, func() bool { return len(other.Status.Parents) == 1 })
}

func TestAGatewayIsDeletedWithAllThatItHasAfterItsRoutes(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway(e.configuration(e.certificates(1)...).Name)
	e.keeper()
	e.service(e.infra)
	e.set(e.infra)
	route := e.route(e.infra, "shop", "shop")
	balancer := e.programmed(gateway)
	var group string
	eventually(t, "a target group is forwarded to", patience, func(context.Context) (bool, error) {
		if https := e.listener(balancer, 443); https != nil {
			for _, rule := range e.rules(https) {
				if to := rule.Actions[0].ForwardConfig; to != nil {
					group = aws.ToString(to.TargetGroups[0].TargetGroupArn)
				}
			}
		}
		return group != "", nil
	})
	e.drop(gateway)
	e.failed(gateway, "routes attached")
	e.drop(route)
	for _, keeper := range []string{"keeper-http", "keeper-https"} {
		e.drop(&gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: keeper, Namespace: e.infra}})
	}
	eventually(t, "the Gateway goes", patience, func(ctx context.Context) (bool, error) {
		err := e.Get(ctx, client.ObjectKeyFromObject(gateway), gateway)
		return err != nil, client.IgnoreNotFound(err)
	})
	if slices.ContainsFunc(e.balancers(), func(b elbtypes.LoadBalancer) bool {
		return *b.LoadBalancerArn == *balancer.LoadBalancerArn
	}) {
		t.Error("the load balancer stays")
	}
	if _, err := e.elb.DescribeTargetGroups(t.Context(), &elb.DescribeTargetGroupsInput{
		TargetGroupArns: []string{group},
	}); err == nil {
		t.Error("the target group stays")
	}
}

func TestAtRestTheSimulatorChangesNothing(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway(e.configuration(e.certificates(2)...).Name)
	e.keeper()
	e.service(e.infra)
	set := e.set(e.infra)
	route := e.route(e.infra, "shop", "shop")
	e.until("the ListenerSet is served", set, func() bool {
		return is(set.Status.Conditions, set.Generation, "Programmed", metav1.ConditionTrue, "")
	})
	name := aws.ToString(e.programmed(gateway).LoadBalancerName)
	eventually(t, "rest", patience, func(context.Context) (bool, error) {
		return len(e.compared(name, gateway, set, route)) == 0, nil
	})
	for range 3 {
		if changed := e.compared(name, gateway, set, route); len(changed) > 0 {
			t.Error(changed)
		}
	}
}

// compared makes the simulator compare everything with AWS, and returns what it has changed in the load balancer and
// the objects.
func (e *edge) compared(balancer string, objects ...client.Object) (changed []string) {
	e.Helper()
	mark := s.Proxy.Mark()
	for _, o := range objects {
		e.until("it is read", o, func() bool { return true })
	}
	s.LoadBalancers.Resume()
	eventually(e.T, "the rules of both listeners are read", patience, func(context.Context) (bool, error) {
		return len(s.Proxy.CallsSince(mark, func(c awsproxy.Call) bool {
			return c.Operation == "DescribeRules" && strings.Contains(c.Resource, balancer)
		})) >= 2, nil
	})
	s.LoadBalancers.Pause() // returns when the pass has ended
	defer s.LoadBalancers.Resume()
	for _, call := range s.Proxy.CallsSince(mark) {
		if call.Write && strings.Contains(call.Resource, balancer) {
			changed = append(changed, call.Operation)
		}
	}
	for _, o := range objects {
		version := o.GetResourceVersion()
		e.until("it is read", o, func() bool { return true })
		if o.GetResourceVersion() != version {
			changed = append(changed, fmt.Sprintf("%T", o))
		}
	}
	return changed
}

func TestWhilePausedAndWithinTheDelayStatusesStayAsTheyAre(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway("")
	e.programmed(gateway)
	s.LoadBalancers.Pause()
	e.change(gateway, func() { gateway.Spec.Listeners[1].Port = 8080 })
	if !is(gateway.Status.Conditions, gateway.Generation-1, "Programmed", metav1.ConditionTrue, "") {
		t.Errorf("generation %d: %+v", gateway.Generation, gateway.Status.Conditions)
	}
	const delay = 700 * time.Millisecond
	s.LoadBalancers.SetDelay(delay)
	defer s.LoadBalancers.SetDelay(0)
	s.LoadBalancers.Resume()
	began := time.Now()
	e.programmed(gateway)
	if took := time.Since(began); took < delay {
		t.Errorf("programmed after %s, before the delay of %s", took, delay)
	}
}
