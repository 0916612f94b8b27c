package claim

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// DeleteUnusedPool deletes a PoolGateway that no claim uses or is about to use.
func (r *Registry) DeleteUnusedPool(ctx context.Context, g *v1alpha1.PoolGateway) error {
	used, err := r.beginRemoval(ctx, g.Name)
	if used || err != nil {
		return err
	}
	defer r.endRemoval(g.Name)
	if used, err = r.usedLive(ctx, g.Name); used || err != nil {
		return err
	}
	return client.IgnoreNotFound(r.Client.Delete(ctx, g, client.Preconditions{UID: &g.UID}))
}

// beginRemoval reports whether a claim uses the PoolGateway. If none does, none is placed there until endRemoval.
func (r *Registry) beginRemoval(ctx context.Context, gateway string) (used bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, err := r.current(ctx)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(all, func(one known) bool { return one.spec.Gateway == gateway }) {
		return true, nil
	}
	if r.removing == nil {
		r.removing = map[string]bool{}
	}
	r.removing[gateway] = true
	return false, nil
}

// endRemoval ends the epoch: a Take that has begun before may have chosen the PoolGateway.
func (r *Registry) endRemoval(gateway string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.removing, gateway)
	r.endEpoch()
}

// usedLive reads from the API server, because another operator may have placed a claim.
func (r *Registry) usedLive(ctx context.Context, gateway string) (bool, error) {
	ledger, err := r.readLedger(ctx)
	if err != nil {
		return false, err
	}
	for _, spec := range announcements(ledger) {
		if spec.Gateway == gateway {
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
