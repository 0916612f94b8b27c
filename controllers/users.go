package controllers

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// using is every kind that refers to a provider.
func using() map[string]client.Object {
	all := map[string]client.Object{kindRequest: &v1alpha1.GatewayHostnameRequest{}, kindPool: &v1alpha1.PoolGateway{}}
	for name, k := range kinds {
		all[name] = k.object
	}
	return all
}

// users lists what holds something at a provider, over all kinds: an object that only names one has nothing there, and must
// not keep it from going.
func users(ctx context.Context, mgr ctrl.Manager, provider string) ([]string, error) {
	var all []string
	for name, proto := range using() {
		err := list(ctx, mgr, proto, func(o client.Object) {
			if reserved(o) {
				all = append(all, userName(name, o))
			}
		}, client.MatchingFields{providerIndex: provider})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// usersNow is users past the cache, which costs a listing of every kind.
func usersNow(ctx context.Context, mgr ctrl.Manager, provider string) ([]string, error) {
	var all []string
	for name := range using() {
		err := listNow(ctx, mgr, name, func(o client.Object) {
			if providerOf(o)[0] == provider && reserved(o) {
				all = append(all, userName(name, o))
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pageNow bounds what one request past the cache brings.
const pageNow = 500

// listNow is list past the cache.
func listNow(ctx context.Context, mgr ctrl.Manager, kind string, each func(client.Object)) error {
	for next := ""; ; {
		made, err := mgr.GetScheme().New(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err != nil {
			return err
		}
		page := made.(client.ObjectList)
		if err := mgr.GetAPIReader().List(ctx, page, client.Limit(pageNow), client.Continue(next)); err != nil {
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

// reserved tells whether obj may have something in an account: its status says so before anything is made.
func reserved(obj client.Object) bool {
	switch o := obj.(type) {
	case external.Object:
		_, status := o.AWS()
		return status.AccountID != ""
	case *v1alpha1.GatewayHostnameRequest:
		return o.Status.AccountID != ""
	default: // a PoolGateway is of an account from the start
		return true
	}
}

// toProvider wakes the provider of an object, if it waits for its last one to go.
func toProvider(mgr ctrl.Manager) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		key, provider := client.ObjectKey{Name: providerOf(o)[0]}, &v1alpha1.AWSProvider{}
		if err := mgr.GetCache().Get(ctx, key, provider); err != nil || provider.DeletionTimestamp.IsZero() {
			return nil
		}
		return []reconcile.Request{{NamespacedName: key}}
	})
}

// freed lets pass what holds nothing at its provider any more.
func freed() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(e event.UpdateEvent) bool { return reserved(e.ObjectOld) && !reserved(e.ObjectNew) },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
