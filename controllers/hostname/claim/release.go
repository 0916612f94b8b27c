package claim

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Release releases everything that the holder has. It is idempotent.
func (r *Registry) Release(ctx context.Context, holder v1alpha1.ClaimHolder) error {
	for range maxAttempts {
		err := r.tryRelease(ctx, holder)
		if !outrun(err) {
			return err
		}
	}
	return engine.Wait(v1alpha1.ReasonReleasing, 0, "many ask for hostnames at this moment")
}

// tryRelease deletes the holder's claims before it withdraws its announcements, which keep others away until then.
func (r *Registry) tryRelease(ctx context.Context, holder v1alpha1.ClaimHolder) error {
	epoch, err := r.open(ctx)
	if err != nil {
		return err
	}
	names, announced, err := r.claimsOf(ctx, epoch, holder)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.giveBack(ctx, name, holder); err != nil {
			return fmt.Errorf("give back the DomainClaim %s: %w", name, err)
		}
	}
	if !announced {
		return nil
	}
	if err := r.announce(ctx, epoch); err != nil {
		return fmt.Errorf("withdraw a claim from the ledger of hostnames: %w", err)
	}
	return nil
}

// claimsOf returns the names of all claims that the holder may have, including those whose creation got no response.
// announced means that the ledger announces one of them.
func (r *Registry) claimsOf(ctx context.Context, epoch int, holder v1alpha1.ClaimHolder) (
	names []string, announced bool, err error,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended(epoch) {
		return nil, false, errOutrun
	}
	all, err := r.current(ctx)
	if err != nil {
		return nil, false, err
	}
	has := map[string]bool{}
	for _, one := range all {
		if one.spec.Holder.UID == holder.UID {
			has[one.name] = true
		}
	}
	for name, spec := range announcements(r.ledger) {
		if spec.Holder.UID == holder.UID {
			has[name], announced = true, true
		}
	}
	return slices.Sorted(maps.Keys(has)), announced, nil
}

// giveBack deletes the claim of this name if it belongs to the holder, and then forgets it.
func (r *Registry) giveBack(ctx context.Context, name string, holder v1alpha1.ClaimHolder) error {
	one, err := heldIn(ctx, r.APIReader, name, holder)
	if err != nil {
		return err
	}
	if one != nil {
		if err := r.deleteClaim(ctx, one); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.pending[name]; p != nil && p.spec.Holder.UID == holder.UID {
		delete(r.pending, name)
	}
	if one != nil {
		if r.released == nil {
			r.released = map[claimID]bool{}
		}
		r.released[idOf(one)] = true
	}
	return nil
}

func (r *Registry) deleteClaim(ctx context.Context, one *v1alpha1.DomainClaim) error {
	if one.DeletionTimestamp.IsZero() {
		if err := r.Client.Delete(ctx, one, client.Preconditions{UID: &one.UID}); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if !controllerutil.ContainsFinalizer(one, engine.Finalizer) {
		return nil
	}
	patch := client.MergeFrom(one.DeepCopy())
	controllerutil.RemoveFinalizer(one, engine.Finalizer)
	return client.IgnoreNotFound(r.Client.Patch(ctx, one, patch))
}
