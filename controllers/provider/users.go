package provider

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/watch"
)

// users lists the objects that use a provider.
type users struct {
	mgr   ctrl.Manager
	kinds map[string]watch.ProviderUser
}

// list returns the objects of all kinds that hold a resource at a provider. An object that only refers to the provider
// has none there, and must not block its deletion.
func (u users) list(ctx context.Context, provider string) ([]string, error) {
	var all []string
	for name, proto := range u.kinds {
		err := watch.Each(ctx, u.mgr, proto, func(o client.Object) {
			if o.(watch.ProviderUser).Reserved() {
				all = append(all, userName(name, o))
			}
		}, client.MatchingFields{watch.ProviderIndex: provider})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// listUncached does what list does without the cache, which costs a list request for each kind.
func (u users) listUncached(ctx context.Context, provider string) ([]string, error) {
	var all []string
	for name := range u.kinds {
		err := eachUncached(ctx, u.mgr, name, func(o watch.ProviderUser) {
			if slices.Contains(o.Providers(), provider) && o.Reserved() {
				all = append(all, userName(name, o))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pageUncached limits one page of an uncached list.
const pageUncached = 500

// eachUncached does what watch.Each does, without the cache.
func eachUncached(ctx context.Context, mgr ctrl.Manager, kind string, each func(watch.ProviderUser)) error {
	for next := ""; ; {
		made, err := mgr.GetScheme().New(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err != nil {
			return err
		}
		page := made.(client.ObjectList)
		if err := mgr.GetAPIReader().List(ctx, page, client.Limit(pageUncached), client.Continue(next)); err != nil {
			return fmt.Errorf("list %s: %w", kind, err)
		}
		err = meta.EachListItem(page, func(o runtime.Object) error {
			each(o.(watch.ProviderUser))
			return nil
		})
		if next = page.GetContinue(); err != nil || next == "" {
			return err
		}
	}
}

func userName(kind string, o client.Object) string {
	return fmt.Sprintf("%s %s/%s", kind, o.GetNamespace(), o.GetName())
}

// enqueueDeletedProvider enqueues the providers of an object that are being deleted and may have waited for it.
func enqueueDeletedProvider(mgr ctrl.Manager) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) (all []reconcile.Request) {
		for _, name := range o.(watch.ProviderUser).Providers() {
			key, provider := client.ObjectKey{Name: name}, &v1alpha1.AWSProvider{}
			if err := mgr.GetCache().Get(ctx, key, provider); err == nil && !provider.DeletionTimestamp.IsZero() {
				all = append(all, reconcile.Request{NamespacedName: key})
			}
		}
		return all
	})
}

// reservationReleased passes events after which an object no longer holds resources at a provider where it held some.
func reservationReleased() predicate.Predicate {
	return predicate.And(watch.NotCreated(), watch.Changed(func(before, after client.Object) bool {
		was, is := before.(watch.ProviderUser), after.(watch.ProviderUser)
		left := func(provider string) bool { return !slices.Contains(is.Providers(), provider) }
		return was.Reserved() && (!is.Reserved() || slices.ContainsFunc(was.Providers(), left))
	}))
}
