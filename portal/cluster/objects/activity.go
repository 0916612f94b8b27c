package objects

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// Activity is what was done through the portal, newest first. The events are shared with the cache.
type Activity struct {
	Events []*corev1.Event
	Narrow bool // the caller cannot list events everywhere: there may be more
}

// Activity returns what was done to objects of the namespace. The caller needs the right to list events there. With ""
// it covers every namespace in which the caller can list events and at least one kind; activity on cluster-scoped
// objects needs the right to list events in namespace default.
func (o *Objects) Activity(ctx context.Context, id auth.Identity, namespace string) (Activity, error) {
	if namespace != "" {
		if err := o.rights.RequireRight(ctx, id, rights.ListEvents.In(namespace)); err != nil {
			return Activity{}, err
		}
		events, err := o.activityIn(ctx, namespace)
		return Activity{Events: events}, err
	}
	everywhere, err := o.rights.Allowed(ctx, id, rights.ListEvents)
	if err != nil {
		return Activity{}, err
	}
	if everywhere {
		events, err := o.activityIn(ctx, metav1.NamespaceAll)
		return Activity{Events: events}, err
	}
	events, err := o.activityAround(ctx, id)
	return Activity{Events: events, Narrow: true}, err
}

// activityAround returns the activity that a caller without the right to list events everywhere can see.
func (o *Objects) activityAround(ctx context.Context, id auth.Identity) (all []*corev1.Event, err error) {
	namespaces, err := o.rights.Namespaces(ctx, id)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(namespaces, metav1.NamespaceDefault) {
		namespaces = append(namespaces, metav1.NamespaceDefault)
	}
	namespaces, err = rights.Filter(ctx, namespaces, func(ctx context.Context, ns string) (bool, error) {
		return o.rights.Allowed(ctx, id, rights.ListEvents.In(ns))
	})
	if err != nil {
		return nil, err
	}
	for _, ns := range namespaces {
		some, err := o.activityIn(ctx, ns)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	feed.NewestFirst(all)
	return all, nil
}

// activityIn reads the cache without an access check.
func (o *Objects) activityIn(ctx context.Context, namespace string) ([]*corev1.Event, error) {
	var list corev1.EventList
	if err := o.feed.List(ctx, "events", &list, client.InNamespace(namespace), client.MatchingFields{
		feed.EventController: activity.Controller,
	}); err != nil {
		return nil, err
	}
	return feed.SortedEvents(&list), nil
}
