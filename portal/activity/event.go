package activity

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/podlogs"
)

// Kubernetes' limits of an Event, with a margin.
const (
	longestName  = 100 // of a user, in characters
	longestUser  = 253
	longestWords = 400
	longestOf    = 200 // of the object's name, as the prefix of the Event's
)

// Namespace returns the namespace of the Events about objects of a namespace; "" is for cluster-scoped objects.
func Namespace(of string) string { return cmp.Or(of, metav1.NamespaceDefault) }

// event returns the Event of the first occurrence.
func (e entry) event(at time.Time, instance string) *eventsv1.Event {
	notes := map[string]string{AnnotationActor: e.actor}
	if e.actorName != "" {
		notes[AnnotationActorName] = e.actorName
	}
	return &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace(e.object.Namespace), Annotations: notes,
			Name: strings.TrimRight(cut(e.object.Name, longestOf), ".-") + "." + strings.ToLower(rand.Text()),
		},
		EventTime: metav1.NewMicroTime(at), ReportingController: Controller, ReportingInstance: instance,
		Action: e.deed.Reason, Reason: e.deed.Reason, Type: corev1.EventTypeNormal, Note: e.note(),
		Regarding: corev1.ObjectReference{
			APIVersion: e.object.APIVersion, Kind: e.object.Kind, Namespace: e.object.Namespace, Name: e.object.Name,
			UID: e.object.UID,
		},
	}
}

// note returns who did what. A display name never replaces the username.
func (e entry) note() string {
	who := cut(podlogs.CleanLine(e.actor), longestUser)
	if e.actorName != "" {
		who = e.actorName + " (" + who + ")"
	}
	return who + " " + cut(e.deed.Words, longestWords) + "."
}

// nameOf returns the user's display name, on one line. The e-mail address is not included, because everybody with the
// right to list events would see it.
func nameOf(id auth.Identity) string {
	return strings.TrimSpace(cut(podlogs.CleanLine(id.Name), longestName))
}

// again returns the patch that counts another occurrence.
func again(count int32, at time.Time) ([]byte, error) {
	return json.Marshal(map[string]any{
		"series": eventsv1.EventSeries{Count: count, LastObservedTime: metav1.NewMicroTime(at)},
	})
}

// cut returns the first characters of s.
func cut(s string, most int) string {
	if all := []rune(s); len(all) > most {
		return string(all[:most])
	}
	return s
}
