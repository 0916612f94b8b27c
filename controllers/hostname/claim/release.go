package claim

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
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

func (r *Registry) tryRelease(ctx context.Context, holder v1alpha1.ClaimHolder) error {
	epoch, err := r.open(ctx)
	if err != nil {
		return err
	}
	names, withdrawn, err := r.withdraw(ctx, holder)
	if err != nil {
		return err
	}
	if withdrawn {
		if err := r.write(ctx, epoch); err != nil {
			return fmt.Errorf("withdraw a claim from the ledger of hostnames: %w", err)
		}
	}
	for _, name := range names {
		if err := r.giveBack(ctx, name, holder); err != nil {
			return fmt.Errorf("give back the DomainClaim %s: %w", name, err)
		}
	}
	return nil
}

// withdraw removes the holder's announcements from the book, and returns the names of all claims that it may have,
// including those whose creation got no response.
func (r *Registry) withdraw(ctx context.Context, holder v1alpha1.ClaimHolder) (
	names []string, withdrawn bool, err error,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := &v1alpha1.DomainClaimList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, false, fmt.Errorf("list the DomainClaims in the cache: %w", err)
	}
	all := map[string]bool{}
	for i := range list.Items {
		if one := &list.Items[i]; one.Spec.Holder.UID == holder.UID && !r.book.released[idOf(one)] {
			all[one.Name] = true
		}
	}
	for name, e := range r.book.entries {
		if e.spec.Holder.UID != holder.UID {
			continue
		}
		all[name] = true
		if e.announced {
			withdrawn = true
			delete(r.book.entries, name)
		}
	}
	if r.book.ledger == nil {
		return nil, false, errOutrun
	}
	for name, text := range r.book.ledger.Data { // it may have become a claim since
		if spec, ok := announced(text); ok && spec.Holder.UID == holder.UID {
			all[name], withdrawn = true, true
		}
	}
	return slices.Sorted(maps.Keys(all)), withdrawn, nil
}

// giveBack deletes the claim of this name if it belongs to the holder.
func (r *Registry) giveBack(ctx context.Context, name string, holder v1alpha1.ClaimHolder) error {
	one := &v1alpha1.DomainClaim{}
	found, err := engine.Find(ctx, r.APIReader, types.NamespacedName{Name: name}, one)
	if err != nil {
		return err
	}
	if found && one.Spec.Holder.UID == holder.UID {
		if err := r.deleteClaim(ctx, one); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.book.entries[name]; e != nil && e.spec.Holder.UID == holder.UID {
		delete(r.book.entries, name)
	}
	if found && one.Spec.Holder.UID == holder.UID {
		if r.book.released == nil {
			r.book.released = map[claimID]bool{}
		}
		r.book.released[idOf(one)] = true
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
