package feed

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/activity"
)

// EventController is the cache index of the events that the portal wrote.
const EventController = "reportingController"

func indexUIDs(obj client.Object) []string {
	return []string{string(obj.(*corev1.Event).InvolvedObject.UID)}
}

func indexControllers(obj client.Object) []string {
	if obj.(*corev1.Event).ReportingController == activity.Controller {
		return []string{activity.Controller}
	}
	return nil
}

// SortedEvents returns the events of a list, newest first.
func SortedEvents(list *corev1.EventList) []*corev1.Event {
	out := make([]*corev1.Event, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	NewestFirst(out)
	return out
}

// NewestFirst sorts events by the time of their last occurrence.
func NewestFirst(events []*corev1.Event) {
	slices.SortStableFunc(events, func(a, b *corev1.Event) int { return EventTime(b).Compare(EventTime(a).Time) })
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
