package pool

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

func served(name string) *v1alpha1.GatewayHostnameRequest {
	r := &v1alpha1.GatewayHostnameRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name}}
	r.Status = v1alpha1.GatewayHostnameRequestStatus{
		Hostname: name + ".example", Claim: "dc-" + name, Gateway: "gw-00", LoadBalancer: "lb.example",
		Certificate: &v1alpha1.HostnameCertificate{ARN: "arn:" + name, Serve: true},
	}
	return r
}

// serving returns a PoolGateway that serves the requests; pass reads requests from shown unless that is nil.
func serving(t *testing.T, requests ...*v1alpha1.GatewayHostnameRequest) (
	live client.WithWatch, pass func(shown []v1alpha1.GatewayHostnameRequest) error,
) {
	t.Helper()
	g := gatewayOf("gw-00", nil)
	objects := []client.Object{g.DeepCopy(), &gatewayv1.GatewayClass{
		ObjectMeta: metav1.ObjectMeta{Name: "alb"},
		Spec:       gatewayv1.GatewayClassSpec{ControllerName: albconfig.ControllerName},
	}}
	for _, r := range requests {
		objects = append(objects, r)
	}
	live = cluster(t, interceptor.Funcs{}, objects...)
	return live, func(shown []v1alpha1.GatewayHostnameRequest) error {
		cached := interceptor.NewClient(
			live, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList,
				o ...client.ListOption,
			) error {
				err := c.List(ctx, list, o...)
				if all, ok := list.(*v1alpha1.GatewayHostnameRequestList); ok && shown != nil {
					all.Items = slices.Clone(shown)
				}
				return err
			}})
		rec := Reconciler{
			Applier: apply.Applier{Client: cached, APIReader: live}, Classes: ClassChecker{
				Reader: cached, APIReader: live,
			}, ObservedTimes: &ObservedTimes{}, Now: time.Now,
			LoadBalancers: func(context.Context, *v1alpha1.PoolGateway) (LoadBalancers, error) {
				return LoadBalancers{}, errors.New("nobody looks")
			}, DeleteUnused: func(ctx context.Context, g *v1alpha1.PoolGateway) error { return live.Delete(ctx, g) },
		}
		return rec.Reconcile(t.Context(), g, engine.NewPass(nil))
	}
}

func there(t *testing.T, c client.Client, obj client.Object, name string) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKey{Namespace: space, Name: name}, obj)
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

// The cache still shows one hostname, and the server says that it is gone too.
func TestTheLastHostnamesGoTogether(t *testing.T) {
	live, pass := serving(t, served("a"), served("b"))
	_ = pass(nil)
	if !there(t, live, &gatewayv1.Gateway{}, "gw-00") {
		t.Fatal("it does not serve")
	}
	for _, name := range []string{"a", "b"} {
		if err := live.Delete(t.Context(), served(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := pass([]v1alpha1.GatewayHostnameRequest{*served("a")}); err != nil {
		t.Error(err)
	}
	for obj, name := range map[client.Object]string{
		&gatewayv1.Gateway{}: "gw-00", &gatewayv1.ListenerSet{}: "dc-a",
		&albconfig.LoadBalancerConfiguration{}: "gw-00",
	} {
		if there(t, live, obj, name) {
			t.Errorf("the %T %s is left", obj, name)
		}
	}
}

// Clients still resolve to the load balancer while its certificate is requested again: a new one would have another DNS
// name.
func TestALoadBalancerStaysWhileRecordsLeadToIt(t *testing.T) {
	request := served("a")
	live, pass := serving(t, request)
	_ = pass(nil)
	request.Status.Certificate = &v1alpha1.HostnameCertificate{Attempt: 2}
	if err := live.Update(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if got, ok := engine.AsWait(pass(nil)); !ok || got.Reason != "InUse" ||
		!there(t, live, &gatewayv1.Gateway{}, "gw-00") {
		t.Errorf("%v", got)
	}
	request.Status.LoadBalancer = ""
	if err := live.Update(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if err := pass(nil); err != nil || there(t, live, &gatewayv1.Gateway{}, "gw-00") {
		t.Errorf("with the records gone: %v", err)
	}
}
