// Package use marks objects that are in use: the status of each lists the objects of its namespace that refer to it. An
// admission policy rejects deleting an object with such a mark.
package use

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/watch"
)

// MaxUsers is the maximum number of users in a mark.
const MaxUsers = 20

// retryAtWork is the delay before an object is marked that is being reconciled now.
const retryAtWork = 100 * time.Millisecond

// Request is an object whose mark may be outdated.
type Request struct {
	Kind string
	types.NamespacedName
	// Follow is true if the objects reachable from it through references need an update, too: they may have become part
	// of a cycle with the object, or no longer be.
	Follow bool
}

// marker maintains the marks of all kinds. A change of a user costs a read from the cache and, if the mark differs, one
// write. The marked object is not reconciled and AWS is not called.
type marker struct {
	mgr    ctrl.Manager
	users  []watch.Referrer
	used   map[string]client.Object
	atWork func(kind string, of types.NamespacedName) bool
}

// Reconcile updates the object's mark and, with Follow, the marks of all objects reachable from it.
func (m *marker) Reconcile(ctx context.Context, req Request) (ctrl.Result, error) {
	result, err := m.mark(ctx, req)
	if err != nil || !req.Follow {
		return result, err
	}
	led, err := m.leadsTo(ctx, req)
	for ref := range led {
		again, failed := m.mark(ctx,
			Request{Kind: ref.Kind, NamespacedName: types.NamespacedName{Namespace: req.Namespace, Name: ref.Name}})
		result.RequeueAfter, err = max(result.RequeueAfter, again.RequeueAfter), cmp.Or(err, failed)
	}
	return result, err
}

func (m *marker) mark(ctx context.Context, req Request) (ctrl.Result, error) {
	proto, used := m.used[req.Kind]
	if !used {
		return ctrl.Result{}, nil
	}
	obj := proto.DeepCopyObject().(engine.Object)
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
	patch, err := json.Marshal(
		map[string]any{"status": map[string]any{"usedBy": orNull(named), "moreUsers": orNull(more)}})
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("write the mark: %w", err)
	}
	err = m.mgr.GetClient().Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, patch))
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// orNull returns the value for a merge patch: null, which removes the field, if v is empty.
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

// usersOf returns the objects that refer to that of req, sorted. It leaves out objects that are being deleted, objects
// that a WebApp created for itself and those deleted with the object. An object is not its own user, and neither is one
// reachable from it: in a cycle all would block each other's deletion for ever.
func (m *marker) usersOf(ctx context.Context, req Request) (all []v1alpha1.ObjectRef, err error) {
	led, err := m.leadsTo(ctx, req)
	if err != nil {
		return nil, err
	}
	itself := v1alpha1.ObjectRef{Kind: req.Kind, Name: req.Name}
	for _, proto := range m.users {
		kind := watch.KindOf(m.mgr, proto)
		err := watch.Each(ctx, m.mgr, proto, func(o client.Object) {
			one := v1alpha1.ObjectRef{Kind: kind, Name: o.GetName()}
			if o.GetDeletionTimestamp().IsZero() && !v1alpha1.MadeByWebApp(o) && !goesAlong(o, req) && one != itself &&
				!led[one] {
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

// goesAlong reports whether the object is owned by the one that it refers to, and deleted with it: a person's own user
// of a database.
func goesAlong(o client.Object, named Request) bool {
	owner := metav1.GetControllerOf(o)
	return owner != nil && owner.Kind == named.Kind && owner.Name == named.Name
}

// mostLed limits how many objects are visited through references.
const mostLed = 1000

// leadsTo returns all objects reachable from that of req through references.
func (m *marker) leadsTo(ctx context.Context, req Request) (map[v1alpha1.ObjectRef]bool, error) {
	led, open := map[v1alpha1.ObjectRef]bool{}, []v1alpha1.ObjectRef{{Kind: req.Kind, Name: req.Name}}
	for ; len(open) > 0 && len(led) < mostLed; open = open[1:] {
		i := slices.IndexFunc(m.users, func(u watch.Referrer) bool { return watch.KindOf(m.mgr, u) == open[0].Kind })
		if i < 0 {
			continue // its kind has no references
		}
		obj := m.users[i].DeepCopyObject().(watch.Referrer)
		found, err := engine.Find(ctx, m.mgr.GetCache(), types.NamespacedName{
			Namespace: req.Namespace, Name: open[0].Name,
		}, obj)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		for _, ref := range obj.References() {
			if !led[ref] {
				led[ref] = true
				open = append(open, ref)
			}
		}
	}
	return led, nil
}
