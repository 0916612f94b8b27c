package cluster

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// readTimeout bounds one read that the cache cannot answer.
const readTimeout = 15 * time.Second

// List returns every object of the kind in namespace, or with "" in every namespace in which the caller can list it,
// sorted by namespace and name. The objects are shared with the cache: never change one, DeepCopy first. For a given
// namespace, a caller without the right to list gets a *ForbiddenError.
func (c *Cluster) List(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (
	[]*unstructured.Unstructured, error,
) {
	if namespace != "" { // Rows notices a lost right late where the list is empty
		if err := c.Require(ctx, id, "list", Ref{Kind: k, Namespace: namespace}); err != nil {
			return nil, err
		}
	}
	rows, err := c.Rows(ctx, id, k, namespace)
	if err != nil {
		return nil, err
	}
	items := make([]*unstructured.Unstructured, 0, len(rows))
	for _, row := range rows {
		items = append(items, row.Object)
	}
	slices.SortFunc(items, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return items, nil
}

// cached reads the cache without an access check.
func (c *Cluster) cached(ctx context.Context, k catalog.Kind, namespace string) ([]*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(k.GVK().GroupVersion().WithKind(k.Name + "List"))
	if err := c.cache.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, &UnavailableError{Doing: "reading the cache of " + k.Plural, Cause: err}
	}
	items := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		items[i] = &list.Items[i]
	}
	return items, nil
}

// Get returns a copy of one object. Without the right to get the kind in the namespace it returns a *ForbiddenError,
// whether or not the object exists; only callers with the right get a NotFound error.
//
// If the object is not in the cache, Get reads it from the API server: it may have just been created.
func (c *Cluster) Get(ctx context.Context, id auth.Identity, ref Ref) (*unstructured.Unstructured, error) {
	if err := c.RequireOne(ctx, id, "get", ref); err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(ref.Kind.GVK())
	err := c.cache.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, obj)
	if apierrors.IsNotFound(err) {
		return c.Current(ctx, id, ref)
	}
	if err != nil {
		return nil, &UnavailableError{Doing: "reading the cache of " + ref.Kind.Plural, Cause: err}
	}
	return obj.DeepCopy(), nil
}

// Current reads like Get, but from the API server and not from the cache, which can lag.
func (c *Cluster) Current(ctx context.Context, id auth.Identity, ref Ref) (*unstructured.Unstructured, error) {
	if err := c.RequireOne(ctx, id, "get", ref); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	obj, err := in(c.reader, ref).Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, err
	case err != nil:
		return nil, &UnavailableError{Doing: "reading " + ref.Kind.Plural, Cause: err}
	}
	_, err = strip(obj)
	return obj, err
}

// Events returns the events about obj, newest first; they are shared with the cache. The caller needs the right to list
// events in the object's namespace; those of cluster-scoped objects are in namespace default.
func (c *Cluster) Events(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) (
	[]*corev1.Event, error,
) {
	ns := activity.Namespace(obj.GetNamespace())
	if err := c.access.require(ctx, id, ListEvents.In(ns)); err != nil {
		return nil, err
	}
	var list corev1.EventList
	about := client.MatchingFields{eventUID: string(obj.GetUID())}
	if err := c.cache.List(ctx, &list, client.InNamespace(ns), about); err != nil {
		return nil, &UnavailableError{Doing: "reading the cache of events", Cause: err}
	}
	return sortedEvents(&list), nil
}

// EventCount returns how often the event occurred, from either version of the Events API.
func EventCount(e *corev1.Event) int32 {
	if e.Series != nil {
		return max(e.Series.Count, 1)
	}
	return max(e.Count, 1)
}

// EventTime returns when the event last occurred, from either version of the Events API.
func EventTime(e *corev1.Event) metav1.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return metav1.Time{Time: e.Series.LastObservedTime.Time}
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp
	case !e.EventTime.IsZero():
		return metav1.Time{Time: e.EventTime.Time}
	}
	return e.CreationTimestamp
}
