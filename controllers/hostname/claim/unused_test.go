package claim

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// A Gateway that a claim is about to use is kept.
func TestAGatewayIsRetiredOnlyIfNobodyHasAPlaceOnIt(t *testing.T) {
	g := &v1alpha1.PoolGateway{ObjectMeta: metav1.ObjectMeta{Namespace: "portico-gateways", Name: "gw-00", UID: "1"}}
	kube := cluster(t, interceptor.Funcs{}, g)
	c := claims(kube)
	gone := func() bool {
		if err := c.DeleteUnusedPool(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		return client.IgnoreNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(g), g.DeepCopy())) == nil &&
			kube.Get(t.Context(), client.ObjectKeyFromObject(g), g.DeepCopy()) != nil
	}
	w := want(t, "payments", "a.example.com")
	if _, err := c.Take(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if gone() {
		t.Error("it went with a claim on it")
	}
	made := &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: NameOf(w.Name, w.Visibility)}}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(made), made); err != nil {
		t.Fatal(err)
	}
	made.Finalizers = nil
	if err := kube.Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if err := kube.Delete(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if gone() {
		t.Error("it went while a claim on it was announced")
	}
	if err := c.Release(t.Context(), w.Holder); err != nil {
		t.Fatal(err)
	}
	if !gone() {
		t.Error("it stays")
	}
}

// A Gateway that is removed while a claim is about to use it is not used.
func TestAClaimIsNotPlacedOnAGatewayThatIsRemoved(t *testing.T) {
	for name, row := range map[string]struct{ between, during bool }{
		"between the choice and the announcement": {between: true},
		"all the time": {during: true},
	} {
		g := &v1alpha1.PoolGateway{ObjectMeta: metav1.ObjectMeta{Namespace: "p", Name: "gw-00", UID: "1"}}
		var gateways []string
		take := func(*Registry) {}
		var c *Registry
		c = claims(cluster(t, interceptor.Funcs{
			Delete: func(ctx context.Context, kube client.WithWatch, obj client.Object,
				o ...client.DeleteOption,
			) error {
				if row.during {
					take(c)
				}
				return kube.Delete(ctx, obj, o...)
			},
		}, g))
		w := want(t, "payments", "a.example.com")
		w.Place = func(ctx context.Context, _ []v1alpha1.DomainClaimSpec) (string, error) {
			gateways = append(gateways, []string{"gw-00", "gw-01"}[min(len(gateways), 1)])
			if row.between && len(gateways) == 1 {
				return "gw-00", c.DeleteUnusedPool(ctx, g)
			}
			return gateways[len(gateways)-1], nil
		}
		take = func(c *Registry) {
			made, err := c.Take(t.Context(), w)
			if err != nil || made.Spec.Gateway != "gw-01" || len(gateways) != 2 {
				t.Errorf("%s: %+v, %v; chosen were %v", name, made, err, gateways)
			}
		}
		if row.between {
			take(c)
		} else if err := c.DeleteUnusedPool(t.Context(), g); err != nil {
			t.Error(err)
		}
	}
}
