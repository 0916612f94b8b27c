// Package use marks what is in use: it writes into the status of each object which others of its namespace name it. An
// admission policy refuses to delete what has such a mark.
package use

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/watch"
)

// MaxUsers is how many users a mark names.
const MaxUsers = 20

// retryAtWork is how soon an object is marked over which a pass runs.
const retryAtWork = 100 * time.Millisecond

// Request is an object whose mark may be old.
type Request struct {
	Kind string
	types.NamespacedName
}

// marker keeps the marks of all kinds. A change of a user leads to a look at the cache and, if the mark differs, to one
// write; there is no pass over the object and no call to AWS.
type marker struct {
	mgr    ctrl.Manager
	users  []watch.Referrer
	used   map[string]client.Object
	atWork func(kind string, of types.NamespacedName) bool
}

// Reconcile brings one mark up to date.
func (m *marker) Reconcile(ctx context.Context, req Request) (ctrl.Result, error) {
	obj := m.used[req.Kind].DeepCopyObject().(engine.Object)
	if found, err := engine.Find(ctx, m.mgr.GetCache(), req.NamespacedName, obj); !found {
		return ctrl.Result{}, err
	}
	users, err := m.usersOf(ctx, req)
	if err != nil {
		return ctrl.Result{}, err
	}
	named, more := users[:min(len(users), MaxUsers)], int32(max(0, len(users)-MaxUsers)) //nolint:gosec // far fewer than 2³¹
	if status := obj.Common(); slices.Equal(status.UsedBy, named) && status.MoreUsers == more {
		return ctrl.Result{}, nil
	}
	if m.atWork(req.Kind, req.NamespacedName) {
		return ctrl.Result{RequeueAfter: retryAtWork}, nil
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"usedBy": orNull(named), "moreUsers": orNull(more)}})
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("write the mark: %w", err)
	}
	err = m.mgr.GetClient().Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch))
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// orNull returns what a merge patch says of a field: one that is empty is removed.
func orNull(v any) any {
	switch v := v.(type) {
	case []v1alpha1.ObjectRef:
		if len(v) == 0 {
			return nil
		}
	case int32:
		if v == 0 {
			return nil
		}
	}
	return v
}

// usersOf returns the objects that name the one of req, sorted. One that is being deleted counts no more, nor does what a WebApp
// made for itself, and an object does not keep itself.
func (m *marker) usersOf(ctx context.Context, req Request) (all []v1alpha1.ObjectRef, err error) {
	for _, proto := range m.users {
		kind := watch.KindOf(m.mgr, proto)
		err := watch.Each(ctx, m.mgr, proto, func(o client.Object) {
			one := v1alpha1.ObjectRef{Kind: kind, Name: o.GetName()}
			if o.GetDeletionTimestamp().IsZero() && !v1alpha1.MadeByWebApp(o) && one != (v1alpha1.ObjectRef{Kind: req.Kind, Name: req.Name}) {
				all = append(all, one)
			}
		}, watch.Naming(req.Kind, req.NamespacedName))
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b v1alpha1.ObjectRef) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(all), nil
}
