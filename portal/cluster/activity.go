package cluster

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
)

// eventController is the cache index of the events that the portal wrote.
const eventController = "reportingController"

func indexControllers(obj client.Object) []string {
	if obj.(*corev1.Event).ReportingController == activity.Controller {
		return []string{activity.Controller}
	}
	return nil
}

// Activity is what was done through the portal, newest first. The events are shared with the cache.
type Activity struct {
	Events []*corev1.Event
	Narrow bool // the caller cannot list events everywhere: there may be more
}

// Activity returns what was done to objects of the namespace. The caller needs the right to list events there. With ""
// it covers every namespace in which the caller can list events and at least one kind; activity on cluster-scoped
// objects needs the right to list events in namespace default.
func (c *Cluster) Activity(ctx context.Context, id auth.Identity, namespace string) (Activity, error) {
	if namespace != "" {
		if err := c.access.require(ctx, id, ListEvents.In(namespace)); err != nil {
			return Activity{}, err
		}
		events, err := c.activityIn(ctx, namespace)
		return Activity{Events: events}, err
	}
	everywhere, err := c.access.allowed(ctx, id, ListEvents)
	if err != nil {
		return Activity{}, err
	}
	if everywhere {
		events, err := c.activityIn(ctx, metav1.NamespaceAll)
		return Activity{Events: events}, err
	}
	events, err := c.activityAround(ctx, id)
	return Activity{Events: events, Narrow: true}, err
}

// activityAround returns the activity that a caller without the right to list events everywhere can see.
func (c *Cluster) activityAround(ctx context.Context, id auth.Identity) (all []*corev1.Event, err error) {
	namespaces, err := c.Namespaces(ctx, id)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(namespaces, metav1.NamespaceDefault) {
		namespaces = append(namespaces, metav1.NamespaceDefault)
	}
	namespaces, err = filter(ctx, namespaces, func(ctx context.Context, ns string) (bool, error) {
		return c.access.allowed(ctx, id, ListEvents.In(ns))
	})
	if err != nil {
		return nil, err
	}
	for _, ns := range namespaces {
		some, err := c.activityIn(ctx, ns)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	newestFirst(all)
	return all, nil
}

// activityIn reads the cache without an access check.
func (c *Cluster) activityIn(ctx context.Context, namespace string) ([]*corev1.Event, error) {
	var list corev1.EventList
	if err := c.cache.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{
		eventController: activity.Controller,
	}); err != nil {
		return nil, &UnavailableError{Doing: "reading the cache of events", Cause: err}
	}
	return sortedEvents(&list), nil
}

// sortedEvents returns the events of a list, newest first.
func sortedEvents(list *corev1.EventList) []*corev1.Event {
	out := make([]*corev1.Event, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	newestFirst(out)
	return out
}

func newestFirst(events []*corev1.Event) {
	slices.SortStableFunc(events, func(a, b *corev1.Event) int { return EventTime(b).Compare(EventTime(a).Time) })
}
