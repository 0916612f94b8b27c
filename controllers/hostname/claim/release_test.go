package claim

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// A claim whose creation got no response, and that the cache does not show, blocks overlapping hostnames until it is
// deleted.
func TestAClaimIsInTheWayUntilItIsDeleted(t *testing.T) {
	first, asked := want(t, "a", "shop.example.com"), false
	var one *Registry
	kube := cluster(t, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
			err := c.Create(ctx, obj, o...)
			if _, ok := obj.(*v1alpha1.DomainClaim); ok && err == nil && !asked {
				return errors.New("the response is lost")
			}
			return err
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.DeleteOption) error {
			asked = true
			if _, err := one.Take(ctx, want(t, "b", "*.example.com")); reasonOf(err) != v1alpha1.ReasonTaken {
				t.Errorf("while it is being deleted: %v", err)
			}
			return c.Delete(ctx, obj, o...)
		},
	}, holders(first)...)
	one = &Registry{
		Client:    &lagging{WithWatch: kube, fresh: func() bool { return false }},
		APIReader: kube, Namespace: "portico-system",
	}
	if _, err := one.Take(t.Context(), first); err == nil {
		t.Fatal("the response was not lost")
	}
	if err := one.Release(t.Context(), first.Holder); err != nil || !asked {
		t.Fatal(err)
	}
	if _, err := one.Take(t.Context(), want(t, "b", "*.example.com")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
