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

// Grow reserves more of the load balancer for a claim: as much of wanted as the reservations of other claims leave room
// for. A claim never shrinks: routes that use the budget would stop working.
func (r *Registry) Grow(ctx context.Context, held *v1alpha1.DomainClaim, wanted v1alpha1.LoadBalancerBudget) (
	*v1alpha1.DomainClaim, error,
) {
	budgeted := held.Spec.Budget != (v1alpha1.LoadBalancerBudget{})
	if budgeted && wanted.Within(held.Spec.Budget) {
		return held, nil
	}
	if _, err := r.open(ctx); err != nil {
		return nil, err
	}
	after, err := r.reserveGrowth(ctx, held, wanted)
	if after == nil || err != nil {
		return held, err
	}
	patch := client.MergeFromWithOptions(held, client.MergeFromWithOptimisticLock{})
	err = r.Client.Patch(ctx, after, patch, client.FieldOwner("portico"))
	r.grown(after, err)
	if apierrors.IsConflict(err) {
		return nil, engine.Wait(v1alpha1.ReasonClaiming, time.Second, "the claim has changed since it was read")
	}
	if err != nil {
		return nil, fmt.Errorf("keep more of the load balancer for the DomainClaim %s: %w", held.Name, err)
	}
	return after, nil
}

// reserveGrowth writes the claim's new budget into the book and returns the claim; nil if the budget does not change.
func (r *Registry) reserveGrowth(ctx context.Context, held *v1alpha1.DomainClaim, wanted v1alpha1.LoadBalancerBudget) (
	*v1alpha1.DomainClaim, error,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	others, err := r.claims(ctx, func(name string, _ *entry) bool { return name == held.Name })
	if err != nil {
		return nil, err
	}
	grown := pool.Room(held.Spec.Gateway, others).Least(wanted).Max(held.Spec.Reserved())
	if grown == held.Spec.Budget {
		return nil, nil
	}
	after := held.DeepCopy()
	after.Spec.Budget = grown
	r.put(held.Name, &entry{spec: after.Spec, uid: held.UID, generation: held.Generation, growing: true})
	return after, nil
}

// grown writes the outcome of the growth into the book. After an error the cache decides what the claim has.
func (r *Registry) grown(after *v1alpha1.DomainClaim, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		delete(r.book.entries, after.Name)
		return
	}
	r.put(after.Name, &entry{spec: after.Spec, uid: after.UID, generation: after.Generation})
}

// DeleteUnusedPool deletes a PoolGateway that no claim uses or is about to use.
func (r *Registry) DeleteUnusedPool(ctx context.Context, g *v1alpha1.PoolGateway) error {
	used, err := r.beginRemoval(ctx, g.Name) // from here on no claim is placed there
	defer r.endRemoval(g.Name)
	if used || err != nil {
		return err
	}
	if used, err = r.usedLive(ctx, g.Name); used || err != nil {
		return err
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, g, client.Preconditions{UID: &g.UID}))
}

func (r *Registry) beginRemoval(ctx context.Context, gateway string) (used bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.book.removing == nil {
		r.book.removing = map[string]int{}
	}
	r.book.removals++
	r.book.removing[gateway]++
	all, err := r.claims(ctx, func(string, *entry) bool { return false })
	return slices.ContainsFunc(all, func(one v1alpha1.DomainClaimSpec) bool { return one.Gateway == gateway }), err
}

func (r *Registry) endRemoval(gateway string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.book.removals++
	if r.book.removing[gateway]--; r.book.removing[gateway] == 0 {
		delete(r.book.removing, gateway)
	}
}

// usedLive reads from the API server, because another operator may have placed a claim.
func (r *Registry) usedLive(ctx context.Context, gateway string) (bool, error) {
	ledger, err := r.ledger(ctx)
	if err != nil {
		return false, err
	}
	for _, text := range ledger.Data {
		if one, ok := announced(text); ok && one.Gateway == gateway {
			return true, nil
		}
	}
	claims := &v1alpha1.DomainClaimList{}
	if err := r.APIReader.List(ctx, claims); err != nil {
		return false, fmt.Errorf("list the DomainClaims: %w", err)
	}
	return slices.ContainsFunc(claims.Items, func(one v1alpha1.DomainClaim) bool {
		return one.Spec.Gateway == gateway
	}), nil
}
