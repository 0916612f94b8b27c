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
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// users lists what uses a provider.
type users struct {
	mgr   ctrl.Manager
	kinds map[string]client.Object
}

// list returns what holds something at a provider, over all kinds: an object that only names one has nothing there, and
// must not keep it from going.
func (u users) list(ctx context.Context, provider string) ([]string, error) {
	var all []string
	for name, proto := range u.kinds {
		err := watch.Each(ctx, u.mgr, proto, func(o client.Object) {
			if hasReservation(o) {
				all = append(all, userName(name, o))
			}
		}, client.MatchingFields{watch.ProviderIndex: provider})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// listUncached lists past the cache, which costs a listing of every kind.
func (u users) listUncached(ctx context.Context, provider string) ([]string, error) {
	var all []string
	for name := range u.kinds {
		err := eachUncached(ctx, u.mgr, name, func(o client.Object) {
			if slices.Contains(watch.ProviderOf(o), provider) && hasReservation(o) {
				all = append(all, userName(name, o))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pageUncached bounds what one request past the cache brings.
const pageUncached = 500

// eachUncached calls each like watch.Each, past the cache.
func eachUncached(ctx context.Context, mgr ctrl.Manager, kind string, each func(client.Object)) error {
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
			each(o.(client.Object))
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

// hasReservation reports whether obj may have something in an account: its status says so before anything is made.
func hasReservation(obj client.Object) bool {
	switch o := obj.(type) {
	case external.Object:
		_, status := o.AWS()
		return status.AccountID != ""
	case *v1alpha1.GatewayHostnameRequest:
		return o.Status.AccountID != ""
	case *v1alpha1.AccessBinding:
		return o.Status.AccountID != ""
	default: // a PoolGateway is of an account from the start
		return true
	}
}

// enqueueDeletedProvider wakes the providers of an object that wait for their last one to go.
func enqueueDeletedProvider(mgr ctrl.Manager) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) (all []reconcile.Request) {
		for _, name := range watch.ProviderOf(o) {
			key, provider := client.ObjectKey{Name: name}, &v1alpha1.AWSProvider{}
			if err := mgr.GetCache().Get(ctx, key, provider); err == nil && !provider.DeletionTimestamp.IsZero() {
				all = append(all, reconcile.Request{NamespacedName: key})
			}
		}
		return all
	})
}

// reservationReleased lets pass what holds nothing any more at a provider that it held something at.
func reservationReleased() predicate.Predicate {
	return predicate.And(watch.NotCreated(), watch.Changed(func(was, is client.Object) bool {
		left := func(provider string) bool { return !slices.Contains(watch.ProviderOf(is), provider) }
		return hasReservation(was) && (!hasReservation(is) || slices.ContainsFunc(watch.ProviderOf(was), left))
	}))
}
