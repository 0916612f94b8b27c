//go:build integration

package stack_test

import (
	"context"
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
	"github.com/portico-platform/portico/test/stack"
)

func TestAGatewayHasItsLoadBalancerWithTheCertificatesOfItsConfiguration(t *testing.T) {
	e := newEdge(t)
	certificates := e.certificates(4)
	config := e.configuration(certificates[:3]...)
	gateway := e.gateway(config.Name)
	balancer := e.programmed(gateway)
	if balancer.Scheme != elbtypes.LoadBalancerSchemeEnumInternetFacing || !strings.HasPrefix(aws.ToString(balancer.LoadBalancerName), "k8s-") {
		t.Errorf("load balancer %s %s", aws.ToString(balancer.LoadBalancerName), balancer.Scheme)
	}
	if l := e.listener(balancer, 443); l != nil {
		t.Error("a listener without a route")
	}
	tags, err := e.elb.DescribeTags(t.Context(), &elb.DescribeTagsInput{ResourceArns: []string{aws.ToString(balancer.LoadBalancerArn)}})
	if err != nil || !slices.ContainsFunc(tags.TagDescriptions[0].Tags, func(tag elbtypes.Tag) bool {
		return aws.ToString(tag.Key) == "gateway.k8s.aws.alb/stack" && aws.ToString(tag.Value) == e.infra+"/gw-01"
	}) {
		t.Errorf("tags %v, %v", tags, err)
	}

	e.keeper()
	e.until("both listeners are served", gateway, func() bool {
		return len(gateway.Status.Listeners) == 2 && !slices.ContainsFunc(gateway.Status.Listeners, func(l gatewayv1.ListenerStatus) bool {
			return l.AttachedRoutes != 1 || !is(l.Conditions, gateway.Generation, "Programmed", metav1.ConditionTrue, "")
		})
	})
	https := e.listener(balancer, 443)
	if got := e.served(https); !slices.Equal(got, certificates[:3]) {
		t.Errorf("certificates %v, want %v", got, certificates[:3])
	}
	to := e.rules(e.listener(balancer, 80))[0].Actions[0].RedirectConfig
	if to == nil || aws.ToString(to.Protocol) != "HTTPS" || aws.ToString(to.Port) != "443" || to.StatusCode != elbtypes.RedirectActionStatusCodeEnumHttp301 {
		t.Errorf("the rule of port 80 redirects to %+v", to)
	}

	want := []string{certificates[0], certificates[2], certificates[3]}
	e.change(config, func() { config.Spec.ListenerConfigurations[0].Certificates = want[1:] })
	eventually(t, "the certificates are exchanged", patience, func(context.Context) (bool, error) {
		return slices.Equal(e.served(https), want), nil
	})
}

func TestAGatewayWithoutAConfigurationIsProgrammedAndServesNothingByHTTPS(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway("")
	e.keeper()
	balancer := e.programmed(gateway)
	eventually(t, "port 80 is served", patience, func(context.Context) (bool, error) { return e.listener(balancer, 80) != nil, nil })
	if balancer.Scheme != elbtypes.LoadBalancerSchemeEnumInternal || e.listener(balancer, 443) != nil {
		t.Errorf("scheme %s, listener of port 443 %v", balancer.Scheme, e.listener(balancer, 443))
	}
}

func TestAListenerSetTakesTheRoutesOfOneNamespaceAndHostname(t *testing.T) {
	e := newEdge(t)
	config := e.configuration(e.certificates(1)...)
	gateway := e.gateway(config.Name)
	tenant, other := e.namespace(), e.namespace()
	set := e.set("shop", "shop."+stack.Domain, tenant)
	e.service(tenant, "shop")
	e.service(other, "shop")
	served := e.route(tenant, "served", "shop", "shop")
	for _, tt := range []struct {
		reason, accepted, resolved string
		route                      *gatewayv1.HTTPRoute
	}{
		{"a route without hostnames takes the listener's", "Accepted", "ResolvedRefs", served},
		{"another namespace may not", "NotAllowedByListeners", "ResolvedRefs", e.route(other, "foreign", "shop", "shop")},
		{"another hostname is not the listener's", "NoMatchingListenerHostname", "ResolvedRefs", e.route(tenant, "elsewhere", "shop", "shop", "www."+stack.Domain)},
		{"a Service that is not there is told", "Accepted", "BackendNotFound", e.route(tenant, "broken", "shop", "missing", "shop."+stack.Domain)},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			e.until("the route's parent says so", tt.route, func() bool {
				if len(tt.route.Status.Parents) != 1 {
					return false
				}
				conditions := tt.route.Status.Parents[0].Conditions
				status := map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionFalse}
				return is(conditions, tt.route.Generation, "Accepted", status[tt.accepted == "Accepted"], tt.accepted) &&
					is(conditions, tt.route.Generation, "ResolvedRefs", status[tt.resolved == "ResolvedRefs"], tt.resolved)
			})
		})
	}
	e.until("the ListenerSet is served", set, func() bool {
		return len(set.Status.Listeners) == 1 && set.Status.Listeners[0].AttachedRoutes == 2 &&
			is(set.Status.Listeners[0].Conditions, set.Generation, "Programmed", metav1.ConditionTrue, "") &&
			is(set.Status.Conditions, set.Generation, "Programmed", metav1.ConditionTrue, "")
	})
	https := e.listener(e.programmed(gateway), 443)
	var actions []elbtypes.ActionTypeEnum
	for _, rule := range e.rules(https) {
		if host := rule.Conditions[0].HostHeaderConfig; host == nil || host.Values[0] != "shop."+stack.Domain {
			t.Errorf("a rule for %v", host)
		}
		actions = append(actions, rule.Actions[0].Type)
	}
	// The first by name, for they are of the same age.
	if want := []elbtypes.ActionTypeEnum{elbtypes.ActionTypeEnumFixedResponse, elbtypes.ActionTypeEnumForward}; !slices.Equal(actions, want) {
		t.Errorf("actions %v, want %v", actions, want)
	}
	if *gateway.Status.AttachedListenerSets != 1 {
		t.Errorf("%d ListenerSets", *gateway.Status.AttachedListenerSets)
	}
	e.drop(served)
	eventually(t, "the rule goes with the route", patience, func(context.Context) (bool, error) { return len(e.rules(https)) == 1, nil })
	e.drop(set)
	eventually(t, "the listener goes with the last route", patience, func(context.Context) (bool, error) {
		return e.listener(e.programmed(gateway), 443) == nil, nil
	})
}

func TestAListenerSetOfAnotherNamespaceIsNotAllowed(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway("")
	set := e.set("shop", "shop."+stack.Domain, e.infra)
	foreign := set.DeepCopy()
	infra := gatewayv1.Namespace(e.infra)
	foreign.ObjectMeta = metav1.ObjectMeta{Name: "shop", Namespace: e.namespace()}
	foreign.Spec.ParentRef.Namespace = &infra
	e.make(foreign)
	e.until("it is not allowed", foreign, func() bool {
		return is(foreign.Status.Conditions, foreign.Generation, "Accepted", metav1.ConditionFalse, "NotAllowed")
	})
	e.until("the Gateway's own is accepted, and not served without a route", set, func() bool {
		return is(set.Status.Conditions, set.Generation, "Accepted", metav1.ConditionTrue, "") &&
			is(set.Status.Conditions, set.Generation, "Programmed", metav1.ConditionFalse, "Pending")
	})
	e.programmed(gateway)
}

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
			e.until("the Gateway tells it", gateway, func() bool {
				i := slices.IndexFunc(gateway.Status.Conditions, func(c metav1.Condition) bool {
					return c.Type == "Programmed" && c.Status == metav1.ConditionFalse && c.Reason == "Invalid" && strings.Contains(c.Message, tt.says)
				})
				return i >= 0 && is(gateway.Status.Conditions, gateway.Generation, "Accepted", metav1.ConditionTrue, "")
			})
			if e.listener(balancer, 443) == nil {
				t.Error("what was built before is gone")
			}
		})
	}
	e.change(config, func() { config.Spec.ListenerConfigurations[0].Certificates = certificates[1:2] })
	e.programmed(gateway)
}

func TestAGatewayIsDeletedWithAllThatItHasAfterItsRoutes(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway(e.configuration(e.certificates(1)...).Name)
	e.keeper()
	e.service(e.infra, "shop")
	e.set("shop", "shop."+stack.Domain, e.infra)
	route := e.route(e.infra, "shop", "shop", "shop")
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
	e.until("it says what it waits for", gateway, func() bool {
		return slices.ContainsFunc(gateway.Status.Conditions, func(c metav1.Condition) bool {
			return strings.Contains(c.Message, "routes attached")
		})
	})
	e.drop(route)
	e.drop(&gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: "keeper", Namespace: e.infra}})
	eventually(t, "the Gateway goes", patience, func(ctx context.Context) (bool, error) {
		err := e.Get(ctx, client.ObjectKeyFromObject(gateway), gateway)
		return err != nil, client.IgnoreNotFound(err)
	})
	if slices.ContainsFunc(e.balancers(), func(b elbtypes.LoadBalancer) bool { return *b.LoadBalancerArn == *balancer.LoadBalancerArn }) {
		t.Error("the load balancer stays")
	}
	if _, err := e.elb.DescribeTargetGroups(t.Context(), &elb.DescribeTargetGroupsInput{TargetGroupArns: []string{group}}); err == nil {
		t.Error("the target group stays")
	}
}

func TestAtRestTheSimulatorChangesNothing(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway(e.configuration(e.certificates(2)...).Name)
	e.keeper()
	e.service(e.infra, "shop")
	set := e.set("shop", "shop."+stack.Domain, e.infra)
	route := e.route(e.infra, "shop", "shop", "shop")
	e.until("the Service is found", route, func() bool {
		return len(route.Status.Parents) == 1 && is(route.Status.Parents[0].Conditions, route.Generation, "ResolvedRefs", metav1.ConditionTrue, "")
	})
	e.until("the ListenerSet is served", set, func() bool {
		return is(set.Status.Conditions, set.Generation, "Programmed", metav1.ConditionTrue, "")
	})
	name := aws.ToString(e.programmed(gateway).LoadBalancerName)
	mark := s.Proxy.Mark()
	read := func() int {
		return len(s.Proxy.CallsSince(mark, func(c awsproxy.Call) bool {
			return c.Operation == "DescribeRules" && strings.Contains(c.Resource, name)
		}))
	}
	for i := range 3 {
		s.LoadBalancers.Resume() // compares everything with AWS
		eventually(t, "the rules of both listeners are read", patience, func(context.Context) (bool, error) { return read() >= 2*(i+1), nil })
	}
	s.LoadBalancers.Pause() // when the pass has ended
	defer s.LoadBalancers.Resume()
	for _, call := range s.Proxy.CallsSince(mark) {
		if call.Write && strings.Contains(call.Resource, name) {
			t.Errorf("%s %s", call.Operation, call.Resource)
		}
	}
	for _, o := range []client.Object{gateway, set, route} {
		version := o.GetResourceVersion()
		e.until("it is read", o, func() bool { return true })
		if o.GetResourceVersion() != version {
			t.Errorf("%T was written", o)
		}
	}
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

func TestTheSampleZonesAndGrantsAreThere(t *testing.T) {
	public, private := s.Zones[stack.Zone{Domain: stack.Domain}], s.Zones[stack.Zone{Domain: stack.Domain, Private: true}]
	if public == "" || private == "" || public == private {
		t.Errorf("zones %v", s.Zones)
	}
}
