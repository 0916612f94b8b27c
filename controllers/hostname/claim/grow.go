package claim

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// Grow keeps more of the load balancer for a claim, as much of what is wanted as there is room for beside what is kept for
// the others. A claim never shrinks: what its routes use would stop to answer.
func (r *Registry) Grow(ctx context.Context, held *v1alpha1.DomainClaim, wanted v1alpha1.LoadBalancerBudget) (*v1alpha1.DomainClaim, error) {
	budgeted := held.Spec.Budget != (v1alpha1.LoadBalancerBudget{})
	if budgeted && wanted.Within(held.Spec.Budget) {
		return held, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	claims := &v1alpha1.DomainClaimList{}
	if err := r.APIReader.List(ctx, claims); err != nil {
		return nil, fmt.Errorf("list the DomainClaims: %w", err)
	}
	var others []v1alpha1.DomainClaimSpec
	for i := range claims.Items {
		if claims.Items[i].UID != held.UID {
			others = append(others, claims.Items[i].Spec)
		}
	}
	grown := pool.Room(held.Spec.Gateway, others).Least(wanted).Max(held.Spec.Reserved())
	if grown == held.Spec.Budget {
		return held, nil
	}
	after := held.DeepCopy()
	after.Spec.Budget = grown
	patch := client.MergeFromWithOptions(held, client.MergeFromWithOptimisticLock{})
	err := r.Client.Patch(ctx, after, patch, client.FieldOwner("portico"))
	if apierrors.IsConflict(err) {
		return nil, engine.Wait(v1alpha1.ReasonClaiming, time.Second, "the claim has changed since it was read")
	}
	if err != nil {
		return nil, fmt.Errorf("keep more of the load balancer for the DomainClaim %s: %w", held.Name, err)
	}
	return after, nil
}

// DeleteUnusedPool deletes a PoolGateway on which nobody has a place, nor is about to get one.
func (r *Registry) DeleteUnusedPool(ctx context.Context, g *v1alpha1.PoolGateway) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	ledger, err := r.ledger(ctx)
	if err != nil {
		return err
	}
	claims := &v1alpha1.DomainClaimList{}
	if err := r.APIReader.List(ctx, claims); err != nil {
		return fmt.Errorf("list the DomainClaims: %w", err)
	}
	if slices.ContainsFunc(claims.Items, func(one v1alpha1.DomainClaim) bool { return one.Spec.Gateway == g.Name }) {
		return nil
	}
	for _, text := range ledger.Data {
		if one, ok := announced(text); ok && one.Gateway == g.Name {
			return nil
		}
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, g, client.Preconditions{UID: &g.UID}))
}
