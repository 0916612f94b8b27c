package hostname

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// mostListed bounds the hostnames that a HostnameGrant lists.
const mostListed = 100

// NamespaceIndex indexes DomainClaims by the namespace of their holder.
const NamespaceIndex = "holder"

// GrantReconciler lists in the status of each HostnameGrant what is in use. It implements engine.KindReconciler.
type GrantReconciler struct{ Reader client.Reader }

// Reconcile implements engine.KindReconciler.
func (g GrantReconciler) Reconcile(ctx context.Context, grant *v1alpha1.HostnameGrant, _ *engine.Pass) error {
	claims := &v1alpha1.DomainClaimList{}
	if err := g.Reader.List(ctx, claims, client.MatchingFields{NamespaceIndex: grant.Namespace}); err != nil {
		return fmt.Errorf("list the DomainClaims of %s: %w", grant.Namespace, err)
	}
	names := make([]string, 0, len(claims.Items))
	for i := range claims.Items {
		names = append(names, claims.Items[i].Spec.Hostname)
	}
	slices.Sort(names)
	grant.Status.Hostnames = int32(len(names)) //nolint:gosec // DNS has fewer names
	grant.Status.InUse = names[:min(len(names), mostListed)]
	return nil
}

// GarbageCollected implements engine.GarbageCollected: a grant creates nothing.
func (GrantReconciler) GarbageCollected() {}

// Finalize implements engine.KindReconciler.
func (GrantReconciler) Finalize(context.Context, *v1alpha1.HostnameGrant, *engine.Pass) error {
	return nil
}
