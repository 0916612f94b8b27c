//go:build integration

package stack_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/test/stack"
)

// edge is a test's environment for Gateway API, with an infra namespace of its own.
type edge struct {
	*testing.T
	client.Client
	infra string
	elb   *elb.Client
}

// patience is longer than the backoff of watches on an API server that was restarted.
const patience = time.Minute

func newEdge(t *testing.T) *edge {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, gatewayv1.Install, albconfig.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(s.Admin, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	e := &edge{T: t, Client: c, elb: elb.NewFromConfig(s.OutsideAWS())}
	e.infra = e.namespace()
	return e
}

func (e *edge) namespace() string {
	e.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "edge-", Labels: map[string]string{
		"portico.dev/routes": "unrestricted",
	}}}
	e.make(ns)
	return ns.Name
}

// make creates the object for the duration of the test.
func (e *edge) make(o client.Object) {
	e.Helper()
	if err := e.Create(e.Context(), o); err != nil {
		e.Fatal(err)
	}
	e.Cleanup(func() { _ = e.Delete(context.Background(), o) })
}

func (e *edge) drop(o client.Object) {
	e.Helper()
	if err := e.Delete(e.Context(), o); err != nil {
		e.Fatal(err)
	}
}

// change edits the object, and retries on conflicts.
func (e *edge) change(o client.Object, edit func()) {
	e.Helper()
	eventually(e.T, "the change is written", patience, func(ctx context.Context) (bool, error) {
		if err := e.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return false, err
		}
		before := o.DeepCopyObject().(client.Object)
		edit()
		err := e.Patch(ctx, o, client.MergeFrom(before))
		return err == nil, err
	})
}

// until reads the object until it is as wanted.
func (e *edge) until(what string, o client.Object, ok func() bool) {
	e.Helper()
	eventually(e.T, what, patience, func(ctx context.Context) (bool, error) {
		err := e.Get(ctx, client.ObjectKeyFromObject(o), o)
		return err == nil && ok(), err
	})
}

// is reports whether a condition has the status, and the reason if one is given, for the generation.
func is(conditions []metav1.Condition, generation int64, kind string, status metav1.ConditionStatus,
	reason string,
) bool {
	c := meta.FindStatusCondition(conditions, kind)
	return c != nil && c.ObservedGeneration == generation && c.Status == status && (reason == "" || c.Reason == reason)
}

// failed waits until the Gateway reports that it could not be reconciled, as the real controller does: only the
// condition Accepted changes, and an event has the cause.
func (e *edge) failed(g *gatewayv1.Gateway, cause string) {
	e.Helper()
	e.until("the Gateway tells it", g, func() bool {
		programmed := meta.FindStatusCondition(g.Status.Conditions, "Programmed")
		return is(g.Status.Conditions, g.Generation, "Accepted", metav1.ConditionFalse, "Invalid") &&
			programmed != nil && programmed.Status == metav1.ConditionTrue
	})
	eventually(e.T, "an event with "+cause, patience, func(ctx context.Context) (bool, error) {
		list := &corev1.EventList{}
		err := e.List(ctx, list, client.InNamespace(g.Namespace))
		return slices.ContainsFunc(list.Items, func(v corev1.Event) bool {
			return v.InvolvedObject.UID == g.UID && strings.Contains(v.Message, cause)
		}), err
	})
}

func (e *edge) configuration(certificates ...string) *albconfig.LoadBalancerConfiguration {
	e.Helper()
	c := &albconfig.LoadBalancerConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "gw-01", Namespace: e.infra}}
	c.Spec = albconfig.LoadBalancerConfigurationSpec{
		Scheme: "internet-facing", ListenerConfigurations: []albconfig.ListenerConfiguration{
			{ProtocolPort: "HTTPS:443", DefaultCertificate: certificates[0], Certificates: certificates[1:]},
		},
	}
	e.make(c)
	return c
}

// gateway creates a Gateway with listeners for https and http, for routes and ListenerSets of its namespace.
func (e *edge) gateway(configuration string) *gatewayv1.Gateway {
	e.Helper()
	same := gatewayv1.NamespacesFromSame
	g := &gatewayv1.Gateway{
		ObjectMeta: metav1.ObjectMeta{Name: "gw-01", Namespace: e.infra},
		Spec: gatewayv1.GatewaySpec{
			GatewayClassName: stack.GatewayClass, AllowedListeners: &gatewayv1.AllowedListeners{
				Namespaces: &gatewayv1.ListenerNamespaces{From: &same},
			},
			Listeners: []gatewayv1.Listener{
				{Name: "https", Port: 443, Protocol: gatewayv1.HTTPSProtocolType, TLS: terminated},
				{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType},
			},
		},
	}
	if configuration != "" {
		g.Spec.Infrastructure = &gatewayv1.GatewayInfrastructure{ParametersRef: &gatewayv1.LocalParametersReference{
			Group: "gateway.k8s.aws", Kind: "LoadBalancerConfiguration", Name: configuration,
		}}
	}
	e.make(g)
	return g
}

// terminated is TLS without certificateRefs, which is valid only with an option.
var terminated = &gatewayv1.ListenerTLSConfig{Options: map[gatewayv1.AnnotationKey]gatewayv1.AnnotationValue{
	"portico.dev/certificate": "acm",
}}

// keeper creates a redirect at each of the Gateway's own listeners: from HTTP to HTTPS, and from HTTPS to another
// path, because AWS refuses a loop.
func (e *edge) keeper() {
	e.Helper()
	secure, moved, home := "https", 301, "/"
	for listener, to := range map[gatewayv1.SectionName]gatewayv1.HTTPRequestRedirectFilter{
		"http":  {Scheme: &secure, StatusCode: &moved},
		"https": {Path: &gatewayv1.HTTPPathModifier{Type: gatewayv1.FullPathHTTPPathModifier, ReplaceFullPath: &home}, StatusCode: &moved},
	} {
		e.make(&gatewayv1.HTTPRoute{
			ObjectMeta: metav1.ObjectMeta{Name: "keeper-" + string(listener), Namespace: e.infra},
			Spec: gatewayv1.HTTPRouteSpec{
				CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{{Name: "gw-01", SectionName: &listener}}},
				Rules: []gatewayv1.HTTPRouteRule{{Filters: []gatewayv1.HTTPRouteFilter{{
					Type: gatewayv1.HTTPRouteFilterRequestRedirect, RequestRedirect: &to,
				}}}},
			},
		})
	}
}

// set returns the ListenerSet of the hostname shop, in the infra namespace; routes of the tenant can attach to it.
func (e *edge) set(tenant string) *gatewayv1.ListenerSet {
	e.Helper()
	selected, host := gatewayv1.NamespacesFromSelector, gatewayv1.Hostname("shop."+stack.Domain)
	l := &gatewayv1.ListenerSet{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: e.infra},
		Spec: gatewayv1.ListenerSetSpec{
			ParentRef: gatewayv1.ParentGatewayReference{Name: "gw-01"},
			Listeners: []gatewayv1.ListenerEntry{{
				Name: "https", Hostname: &host, Port: 443, Protocol: gatewayv1.HTTPSProtocolType, TLS: terminated,
				AllowedRoutes: &gatewayv1.AllowedRoutes{
					Namespaces: &gatewayv1.RouteNamespaces{From: &selected, Selector: &metav1.LabelSelector{
						MatchExpressions: []metav1.LabelSelectorRequirement{
							{
								Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn,
								Values: []string{tenant},
							},
						},
					}},
				},
			}},
		},
	}
	e.make(l)
	return l
}

// route returns a route that sends hostnames of that ListenerSet to port 80 of a Service.
func (e *edge) route(namespace, name, service string, hostnames ...gatewayv1.Hostname) *gatewayv1.HTTPRoute {
	e.Helper()
	kind, infra, port := gatewayv1.Kind("ListenerSet"), gatewayv1.Namespace(e.infra), gatewayv1.PortNumber(80)
	r := &gatewayv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{{Kind: &kind, Namespace: &infra, Name: "shop"}}},
			Hostnames:       hostnames,
			Rules: []gatewayv1.HTTPRouteRule{{BackendRefs: []gatewayv1.HTTPBackendRef{{BackendRef: gatewayv1.BackendRef{
				BackendObjectReference: gatewayv1.BackendObjectReference{Name: gatewayv1.ObjectName(service), Port: &port},
			}}}}},
		},
	}
	e.make(r)
	return r
}

func (e *edge) service(namespace string) {
	e.Helper()
	e.make(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: namespace},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	})
}

// programmed waits until the Gateway is programmed at its generation and returns its load balancer.
func (e *edge) programmed(g *gatewayv1.Gateway) elbtypes.LoadBalancer {
	e.Helper()
	e.until("the Gateway is programmed", g, func() bool {
		return is(g.Status.Conditions, g.Generation, "Accepted", metav1.ConditionTrue, "") &&
			is(g.Status.Conditions, g.Generation, "Programmed", metav1.ConditionTrue, "")
	})
	balancers := e.balancers()
	i := slices.IndexFunc(balancers, func(b elbtypes.LoadBalancer) bool {
		return aws.ToString(b.DNSName) == g.Status.Addresses[0].Value
	})
	if i < 0 {
		e.Fatalf("no load balancer has the address %v", g.Status.Addresses)
	}
	return balancers[i]
}

func (e *edge) balancers() []elbtypes.LoadBalancer {
	e.Helper()
	out, err := e.elb.DescribeLoadBalancers(e.Context(), &elb.DescribeLoadBalancersInput{})
	if err != nil {
		e.Fatal(err)
	}
	return out.LoadBalancers
}

// listener returns the listener of a port, or nil.
func (e *edge) listener(of elbtypes.LoadBalancer, port int32) *elbtypes.Listener {
	e.Helper()
	out, err := e.elb.DescribeListeners(e.Context(), &elb.DescribeListenersInput{LoadBalancerArn: of.LoadBalancerArn})
	if err != nil {
		e.Fatal(err)
	}
	for i := range out.Listeners {
		if aws.ToInt32(out.Listeners[i].Port) == port {
			return &out.Listeners[i]
		}
	}
	return nil
}

// served returns the ARNs of a listener's certificates, sorted.
func (e *edge) served(l *elbtypes.Listener) []string {
	e.Helper()
	out, err := e.elb.DescribeListenerCertificates(e.Context(), &elb.DescribeListenerCertificatesInput{
		ListenerArn: l.ListenerArn,
	})
	if err != nil {
		e.Fatal(err)
	}
	var arns []string
	for _, c := range out.Certificates {
		arns = append(arns, aws.ToString(c.CertificateArn))
	}
	slices.Sort(arns)
	return arns
}

// rules returns the rules of a listener except the default one; none for nil: the listener of a ListenerSet appears
// only after its Gateway is programmed.
func (e *edge) rules(l *elbtypes.Listener) []elbtypes.Rule {
	e.Helper()
	if l == nil {
		return nil
	}
	out, err := e.elb.DescribeRules(e.Context(), &elb.DescribeRulesInput{ListenerArn: l.ListenerArn})
	if err != nil {
		e.Fatal(err)
	}
	return slices.DeleteFunc(out.Rules, func(r elbtypes.Rule) bool { return aws.ToBool(r.IsDefault) })
}

// certificates imports n certificates and returns their ARNs, sorted.
func (e *edge) certificates(n int) []string {
	e.Helper()
	client := acm.NewFromConfig(s.OutsideAWS())
	arns := make([]string, n)
	for i := range arns {
		certificate, key := selfSigned(e.T)
		out, err := client.ImportCertificate(e.Context(), &acm.ImportCertificateInput{
			Certificate: certificate, PrivateKey: key,
		})
		if err != nil {
			e.Fatal(err)
		}
		arns[i] = aws.ToString(out.CertificateArn)
	}
	slices.Sort(arns)
	return arns
}

func selfSigned(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{"shop." + stack.Domain},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}
