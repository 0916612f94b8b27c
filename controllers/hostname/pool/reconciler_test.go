package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

const space = "portico-gateways"

func cluster(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.WithWatch {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, corev1.AddToScheme, gatewayv1.Install, albconfig.AddToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithInterceptorFuncs(
		funcs).WithStatusSubresource(&v1alpha1.PoolGateway{}).
		WithIndex(&v1alpha1.GatewayHostnameRequest{}, Index, func(o client.Object) []string {
			return []string{o.(*v1alpha1.GatewayHostnameRequest).Status.Gateway}
		}).
		WithIndex(&v1alpha1.DomainClaim{}, Index, func(o client.Object) []string {
			return []string{o.(*v1alpha1.DomainClaim).Spec.Gateway}
		}).
		WithIndex(&gatewayv1.HTTPRoute{}, RouteIndex, ListenerSetsOf).WithIndex(
		&gatewayv1.GRPCRoute{}, RouteIndex, ListenerSetsOf).Build()
}

var kind = v1alpha1.PoolGatewaySpec{
	Visibility: v1alpha1.InternetFacing, GatewayClass: "alb", ProviderRef: v1alpha1.LocalRef{Name: "aws"},
	AccountID: "123456789012", Region: "eu-west-1",
}

func gatewayOf(name string, change func(*v1alpha1.PoolGateway)) *v1alpha1.PoolGateway {
	g := &v1alpha1.PoolGateway{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, UID: "uid-of-gateway"},
		Spec:       kind,
	}
	if change != nil {
		change(g)
	}
	return g
}

var small = v1alpha1.HostnameGrantSpec{}.Budget()

func claimsOn(name string, n int) []v1alpha1.DomainClaimSpec {
	return slices.Repeat([]v1alpha1.DomainClaimSpec{{Gateway: name}}, n)
}

func TestFirstFit(t *testing.T) {
	full := func(change func(*v1alpha1.PoolGatewayStatus)) *v1alpha1.PoolGateway {
		return gatewayOf("gw-00", func(g *v1alpha1.PoolGateway) { change(&g.Status) })
	}
	now := metav1.Now()
	for name, row := range map[string]struct {
		there  []client.Object
		claims []v1alpha1.DomainClaimSpec
		want   string
	}{
		"none yet":               {nil, nil, "gw-00"},
		"room on the first":      {[]client.Object{gatewayOf("gw-00", nil), gatewayOf("gw-01", nil)}, claimsOn("gw-00", 19), "gw-00"},
		"all places claimed":     {[]client.Object{gatewayOf("gw-00", nil), gatewayOf("gw-01", nil)}, claimsOn("gw-00", 20), "gw-01"},
		"all places on both":     {[]client.Object{gatewayOf("gw-00", nil), gatewayOf("gw-01", nil)}, append(claimsOn("gw-00", 20), claimsOn("gw-01", 20)...), "gw-02"},
		"a gap in the names":     {[]client.Object{gatewayOf("gw-01", nil)}, claimsOn("gw-01", 20), "gw-00"},
		"removed with hostnames": {nil, claimsOn("gw-00", 1), "gw-01"},
		"certificates of others": {[]client.Object{full(func(s *v1alpha1.PoolGatewayStatus) { s.Certificates = 20 })}, nil, "gw-01"},
		"rules kept for others": {
			[]client.Object{gatewayOf("gw-00", nil)}, []v1alpha1.DomainClaimSpec{
				{Gateway: "gw-00", Budget: v1alpha1.LoadBalancerBudget{Rules: 70, TargetGroups: 4}},
			}, "gw-00",
		},
		"one rule too many kept for others": {
			[]client.Object{gatewayOf("gw-00", nil)}, []v1alpha1.DomainClaimSpec{
				{Gateway: "gw-00", Budget: v1alpha1.LoadBalancerBudget{Rules: 71, TargetGroups: 4}},
			}, "gw-01",
		},
		"target groups kept for others": {
			[]client.Object{gatewayOf("gw-00", nil)}, []v1alpha1.DomainClaimSpec{
				{Gateway: "gw-00", Budget: v1alpha1.LoadBalancerBudget{Rules: 3, TargetGroups: 77}},
			}, "gw-01",
		},
		"too many rules":         {[]client.Object{full(func(s *v1alpha1.PoolGatewayStatus) { s.Rules = 75 })}, nil, "gw-01"},
		"too many target groups": {[]client.Object{full(func(s *v1alpha1.PoolGatewayStatus) { s.TargetGroups = 80 })}, nil, "gw-01"},
		"of another class":       {[]client.Object{gatewayOf("gw-00", func(g *v1alpha1.PoolGateway) { g.Spec.GatewayClass = "other" })}, nil, "gw-01"},
		"of another account":     {[]client.Object{gatewayOf("gw-00", func(g *v1alpha1.PoolGateway) { g.Spec.AccountID = "210987654321" })}, nil, "gw-01"},
		"of another visibility":  {[]client.Object{gatewayOf("gw-00", func(g *v1alpha1.PoolGateway) { g.Spec.Visibility = v1alpha1.Internal })}, nil, "gw-01"},
		"by another provider of the account": {[]client.Object{gatewayOf("gw-00", func(g *v1alpha1.PoolGateway) {
			g.Spec.ProviderRef.Name = "other"
		})}, nil, "gw-00"},
		"one that is being deleted": {[]client.Object{gatewayOf("gw-00", func(g *v1alpha1.PoolGateway) {
			g.DeletionTimestamp, g.Finalizers = &now, []string{"x/y"}
		})}, nil, "gw-01"},
	} {
		c := cluster(t, interceptor.Funcs{}, row.there...)
		got, err := Allocator{Client: c, APIReader: c, Namespace: space}.Allocate(t.Context(), kind, small, row.claims)
		if err != nil || got != row.want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: space, Name: got},
			&v1alpha1.PoolGateway{}); err != nil {
			t.Errorf("%s: it is not there: %v", name, err)
		}
	}
	var all []client.Object
	var claims []v1alpha1.DomainClaimSpec
	for n := range maxGateways {
		all = append(all, gatewayOf(fmt.Sprintf("gw-%02d", n), nil))
		claims = append(claims, claimsOn(fmt.Sprintf("gw-%02d", n), 20)...)
	}
	c := cluster(t, interceptor.Funcs{}, all...)
	if _, err := (Allocator{Client: c, APIReader: c, Namespace: space}).Allocate(
		t.Context(), kind, small, claims); err == nil || !strings.Contains(err.Error(), "ask a platform admin") {
		t.Errorf("all full: %v", err)
	}
	boom := errors.New("boom")
	broken := cluster(t, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return boom },
	})
	if got, err := (Allocator{Client: broken, APIReader: broken, Namespace: space}).Allocate(
		t.Context(), kind, small, nil); !errors.Is(err, boom) {
		t.Errorf("an error is an empty pool: %s, %v", got, err)
	}
}

func TestTheNameOfALoadBalancer(t *testing.T) {
	for dns, want := range map[string]string{
		"k8s-porticog-gw00-c55e8eebbb-1534577820.eu-west-1.elb.amazonaws.com":          "k8s-porticog-gw00-c55e8eebbb",
		"internal-k8s-porticog-gw00-c55e8eebbb-1534577820.eu-west-1.elb.amazonaws.com": "k8s-porticog-gw00-c55e8eebbb",
		"": "",
	} {
		if got := nameOf(dns); got != want {
			t.Errorf("%s: %s", dns, got)
		}
	}
}

// A hostname that the cache does not show yet, or shows outdated, stays on the load balancer.
func TestAStaleCacheTakesNothingOff(t *testing.T) {
	request := func(name, arn string) *v1alpha1.GatewayHostnameRequest {
		r := &v1alpha1.GatewayHostnameRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name}}
		r.Status = v1alpha1.GatewayHostnameRequestStatus{
			Hostname: name + ".example", Claim: "dc-" + name,
			Gateway: "gw-00", Certificate: &v1alpha1.HostnameCertificate{ARN: arn, Serve: true},
		}
		return r
	}
	g := gatewayOf("gw-00", nil)
	class := &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: "alb"}, Spec: gatewayv1.GatewayClassSpec{
		ControllerName: albconfig.ControllerName,
	}}
	for name, hidden := range map[string][]string{"one of two": {"b"}, "both": {"a", "b"}} {
		live := cluster(t, interceptor.Funcs{}, g.DeepCopy(), class.DeepCopy(), request("a", "arn:a"),
			request("b", "arn:b"))
		stale := false
		cached := interceptor.NewClient(
			live, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList,
				o ...client.ListOption,
			) error {
				err := c.List(ctx, list, o...)
				if all, ok := list.(*v1alpha1.GatewayHostnameRequestList); ok && stale {
					all.Items = slices.DeleteFunc(all.Items, func(r v1alpha1.GatewayHostnameRequest) bool {
						return slices.Contains(hidden, r.Name)
					})
				}
				return err
			}})
		rec := Reconciler{Applier: apply.Applier{Client: cached, APIReader: live}, Classes: ClassChecker{
			Reader: cached, APIReader: live,
		}, LoadBalancers: func(context.Context, *v1alpha1.PoolGateway) (
			LoadBalancers, error,
		) {
			return LoadBalancers{}, errors.New("nobody looks")
		}, ObservedTimes: &ObservedTimes{}, Now: time.Now}
		for _, stale = range []bool{false, true} {
			_ = rec.Reconcile(t.Context(), g, engine.NewPass(nil))
			config := &albconfig.LoadBalancerConfiguration{}
			if err := live.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "gw-00"}, config); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			l := config.Spec.ListenerConfigurations[0]
			if l.DefaultCertificate != "arn:a" || !slices.Equal(l.Certificates, []string{"arn:b"}) {
				t.Errorf("%s, stale %v: %+v", name, stale, l)
			}
			for _, set := range []string{"dc-a", "dc-b"} {
				if err := live.Get(t.Context(), client.ObjectKey{Namespace: space, Name: set},
					&gatewayv1.ListenerSet{}); err != nil {
					t.Errorf("%s, stale %v: %v", name, stale, err)
				}
			}
			if err := live.Get(t.Context(), client.ObjectKey{Namespace: space, Name: "gw-00"},
				&gatewayv1.Gateway{}); err != nil {
				t.Errorf("%s, stale %v: %v", name, stale, err)
			}
		}
	}
}
