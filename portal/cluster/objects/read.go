// Package objects reads objects for callers, after checking their rights.
package objects

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// ReadTimeout bounds one read that the cache cannot answer.
const ReadTimeout = 15 * time.Second

// Objects reads for callers. It is safe for concurrent use.
type Objects struct {
	rights *rights.Rights
	feed   *feed.Feed
	reader dynamic.Interface // with the portal's own credentials
}

// New returns Objects, which read from the feed, or with reader from the API server.
func New(may *rights.Rights, from *feed.Feed, reader dynamic.Interface) *Objects {
	return &Objects{rights: may, feed: from, reader: reader}
}

// List returns every object of the kind in namespace, or with "" in every namespace in which the caller can list it,
// sorted by namespace and name. The objects are shared with the cache: never change one, DeepCopy first. For a given
// namespace, a caller without the right to list gets a *failure.ForbiddenError.
func (o *Objects) List(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (
	[]*unstructured.Unstructured, error,
) {
	if namespace != "" { // Rows notices a lost right late where the list is empty
		if err := o.rights.Require(ctx, id, "list", catalog.Ref{Kind: k, Namespace: namespace}); err != nil {
			return nil, err
		}
	}
	rows, err := o.Rows(ctx, id, k, namespace)
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

// Get returns a copy of one object. Without the right to get the kind in the namespace it returns a
// *failure.ForbiddenError, whether or not the object exists; only callers with the right get a NotFound error.
//
// If the object is not in the cache, Get reads it from the API server: it may have just been created.
func (o *Objects) Get(ctx context.Context, id auth.Identity, ref catalog.Ref) (*unstructured.Unstructured, error) {
	if err := o.rights.RequireOne(ctx, id, "get", ref); err != nil {
		return nil, err
	}
	if o.feed.Reading(ref.Kind) {
		return o.Current(ctx, id, ref)
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(ref.Kind.GVK())
	err := o.feed.Cache.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, obj)
	if apierrors.IsNotFound(err) {
		return o.Current(ctx, id, ref)
	}
	if err != nil {
		return nil, &failure.UnavailableError{Doing: "reading the cache of " + ref.Kind.Plural, Cause: err}
	}
	return obj.DeepCopy(), nil
}

// Current reads like Get, but from the API server and not from the cache, which can lag.
func (o *Objects) Current(ctx context.Context, id auth.Identity, ref catalog.Ref) (*unstructured.Unstructured, error) {
	if err := o.rights.RequireOne(ctx, id, "get", ref); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, ReadTimeout)
	defer cancel()
	obj, err := In(o.reader, ref).Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, err
	case err != nil:
		return nil, &failure.UnavailableError{Doing: "reading " + ref.Kind.Plural, Cause: err}
	}
	_, err = feed.Strip(obj)
	return obj, err
}

// Events returns the events about obj, newest first; they are shared with the cache. The caller needs the right to list
// events in the object's namespace; those of cluster-scoped objects are in namespace default.
func (o *Objects) Events(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) (
	[]*corev1.Event, error,
) {
	ns := activity.Namespace(obj.GetNamespace())
	if err := o.rights.RequireRight(ctx, id, rights.ListEvents.In(ns)); err != nil {
		return nil, err
	}
	if obj.GroupVersionKind().Group != v1alpha1.GroupVersion.Group {
		return o.eventsOfOthers(ctx, ns, obj)
	}
	var list corev1.EventList
	about := client.MatchingFields{feed.EventUID: string(obj.GetUID())}
	if err := o.feed.List(ctx, "events", &list, client.InNamespace(ns), about); err != nil {
		return nil, err
	}
	return feed.SortedEvents(&list), nil
}

// mostEvents bounds how many events about an object of others are read.
const mostEvents = 100

// eventsOfOthers reads the events about an object of a kind of others from the API server: the cache has only those
// about Portico's kinds.
func (o *Objects) eventsOfOthers(ctx context.Context, namespace string, obj *unstructured.Unstructured) (
	[]*corev1.Event, error,
) {
	ctx, cancel := context.WithTimeout(ctx, ReadTimeout)
	defer cancel()
	got, err := o.reader.Resource(corev1.SchemeGroupVersion.WithResource("events")).Namespace(namespace).List(ctx,
		metav1.ListOptions{FieldSelector: feed.EventUID + "=" + string(obj.GetUID()), Limit: mostEvents})
	if err != nil {
		return nil, &failure.UnavailableError{Doing: "reading the events about an object", Cause: err}
	}
	var list corev1.EventList
	for i := range got.Items {
		var e corev1.Event
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Items[i].Object, &e); err != nil {
			return nil, fmt.Errorf("reading an event: %w", err)
		}
		if _, err := feed.TrimEvent(&e); err != nil {
			return nil, err
		}
		list.Items = append(list.Items, e)
	}
	return feed.SortedEvents(&list), nil
}

// In returns the client for ref's kind, in ref's namespace if the kind is namespaced.
func In(client dynamic.Interface, ref catalog.Ref) dynamic.ResourceInterface {
	r := client.Resource(ref.Kind.Resource)
	if ref.Kind.Namespaced {
		return r.Namespace(ref.Namespace)
	}
	return r
}
