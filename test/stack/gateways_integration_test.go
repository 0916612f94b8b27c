//go:build integration

package stack_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

func TestAGatewayHasItsLoadBalancerWithTheCertificatesOfItsConfiguration(t *testing.T) {
	e := newEdge(t)
	certificates := e.certificates(4)
	config := e.configuration(certificates[:3]...)
	gateway := e.gateway(config.Name)
	balancer := e.programmed(gateway)
	if balancer.Scheme != elbtypes.LoadBalancerSchemeEnumInternetFacing ||
		!strings.HasPrefix(aws.ToString(balancer.LoadBalancerName), "k8s-") {
		t.Errorf("load balancer %s %s", aws.ToString(balancer.LoadBalancerName), balancer.Scheme)
	}
	if l := e.listener(balancer, 443); l != nil {
		t.Error("a listener without a route")
	}
	tags, err := e.elb.DescribeTags(
		t.Context(), &elb.DescribeTagsInput{ResourceArns: []string{aws.ToString(balancer.LoadBalancerArn)}})
	if err != nil || !slices.ContainsFunc(tags.TagDescriptions[0].Tags, func(tag elbtypes.Tag) bool {
		return aws.ToString(tag.Key) == "gateway.k8s.aws.alb/stack" && aws.ToString(tag.Value) == e.infra+"/gw-01"
	}) {
		t.Errorf("tags %v, %v", tags, err)
	}

	e.keeper()
	e.until("both listeners are served", gateway, func() bool {
		return len(gateway.Status.Listeners) == 2 && !slices.ContainsFunc(gateway.Status.Listeners,
			func(l gatewayv1.ListenerStatus) bool {
				return l.AttachedRoutes != 1 ||
					!is(l.Conditions, gateway.Generation, "Programmed", metav1.ConditionTrue, "")
			})
	})
	https := e.listener(balancer, 443)
	listed := func(arns ...string) []string { // the default one is listed once more among the others
		all := append([]string{arns[0]}, arns...)
		slices.Sort(all)
		return all
	}
	if got, want := e.served(https), listed(certificates[:3]...); !slices.Equal(got, want) {
		t.Errorf("certificates %v, want %v", got, want)
	}
	to := e.rules(e.listener(balancer, 80))[0].Actions[0].RedirectConfig
	if to == nil || to.StatusCode != elbtypes.RedirectActionStatusCodeEnumHttp301 {
		t.Fatalf("the rule of port 80 redirects to %+v, want with 301", to)
	}
	if aws.ToString(to.Protocol) != "HTTPS" || aws.ToString(to.Port) != "443" {
		t.Errorf("the rule of port 80 redirects to %s of port %s, want HTTPS of 443", aws.ToString(to.Protocol),
			aws.ToString(to.Port))
	}

	want := []string{certificates[0], certificates[2], certificates[3]}
	e.change(config, func() { config.Spec.ListenerConfigurations[0].Certificates = want[1:] })
	eventually(t, "the certificates are exchanged", patience, func(context.Context) (bool, error) {
		return slices.Equal(e.served(https), listed(want...)), nil
	})
}

func TestAGatewayWithoutAConfigurationIsProgrammedAndServesNothingByHTTPS(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway("")
	e.keeper()
	balancer := e.programmed(gateway)
	eventually(t, "port 80 is served", patience, func(context.Context) (bool, error) {
		return e.listener(balancer, 80) != nil, nil
	})
	if balancer.Scheme != elbtypes.LoadBalancerSchemeEnumInternal || e.listener(balancer, 443) != nil {
		t.Errorf("scheme %s, listener of port 443 %v", balancer.Scheme, e.listener(balancer, 443))
	}
}

func TestAListenerSetTakesTheRoutesOfOneNamespaceAndHostname(t *testing.T) {
	e := newEdge(t)
	config := e.configuration(e.certificates(1)...)
	gateway := e.gateway(config.Name)
	tenant, other := e.namespace(), e.namespace()
	set := e.set(tenant)
	e.service(tenant)
	e.service(other)
	served := e.route(tenant, "served", "shop")
	e.judges(served, "a route without hostnames takes the listener's", "Accepted", "ResolvedRefs")
	e.judges(e.route(other, "foreign", "shop"), "another namespace may not", "NotAllowedByListeners", "ResolvedRefs")
	e.judges(e.route(tenant, "elsewhere", "shop", "www."+stack.Domain), "another hostname is not the listener's",
		"NoMatchingListenerHostname", "ResolvedRefs")
	e.judges(e.route(tenant, "broken", "missing", "shop."+stack.Domain), "a Service that is not there is told",
		"Accepted", "BackendNotFound")
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
	slices.Sort(actions)
	if want := []elbtypes.ActionTypeEnum{
		elbtypes.ActionTypeEnumFixedResponse, elbtypes.ActionTypeEnumForward,
	}; !slices.Equal(actions, want) {
		t.Errorf("actions %v, want %v", actions, want)
	}
	if *gateway.Status.AttachedListenerSets != 1 {
		t.Errorf("%d ListenerSets", *gateway.Status.AttachedListenerSets)
	}
	e.drop(served)
	eventually(t, "the rule goes with the route", patience, func(context.Context) (bool, error) {
		return len(e.rules(https)) == 1, nil
	})
	e.drop(set)
	eventually(t, "the listener goes with the last route", patience, func(context.Context) (bool, error) {
		return e.listener(e.programmed(gateway), 443) == nil, nil
	})
}

// judges waits until both conditions of the route's only parent have the reasons.
func (e *edge) judges(r *gatewayv1.HTTPRoute, what, accepted, resolved string) {
	e.Helper()
	status := map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionFalse}
	e.until(what, r, func() bool {
		if len(r.Status.Parents) != 1 {
			return false
		}
		conditions := r.Status.Parents[0].Conditions
		return is(conditions, r.Generation, "Accepted", status[accepted == "Accepted"], accepted) &&
			is(conditions, r.Generation, "ResolvedRefs", status[resolved == "ResolvedRefs"], resolved)
	})
}

func TestAListenerSetOfAnotherNamespaceIsNotAllowed(t *testing.T) {
	e := newEdge(t)
	gateway := e.gateway("")
	set := e.set(e.infra)
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

func TestGatewaysComeToAClusterThatWasWithoutThem(t *testing.T) {
	tiers.Long(t)
	own, err := stack.Start(t.Context(), stack.Options{Root: root, Parts: stack.ControlPlane | stack.AWS})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() })
	served := func() bool {
		_, err := clients(t, own.Admin).Discovery().ServerResourcesForGroupVersion("gateway.networking.k8s.io/v1")
		return err == nil
	}
	if served() || own.LoadBalancers != nil {
		t.Fatal("Gateway API is there from the start")
	}
	if err := own.StartGateways(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !served() {
		t.Error("Gateway API is not there")
	}
	public, private := own.Zones[stack.Zone{Domain: stack.Domain}],
		own.Zones[stack.Zone{Domain: stack.Domain, Private: true}]
	if public == "" || private == "" || public == private {
		t.Errorf("zones %v", own.Zones)
	}
}
