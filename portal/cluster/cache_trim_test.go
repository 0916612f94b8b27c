package cluster

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

// TestAnEventIsKeptAsFarAsItIsShown: users who can create Events can write a megabyte into one.
func TestAnEventIsKeptAsFarAsItIsShown(t *testing.T) {
	long := strings.Repeat("é", 500_000)
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name: "e", Annotations: map[string]string{"portico.dev/actor": "kept", "short": "theirs", "long": long},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: long}},
		},
		Message: "x" + long, Reason: long, Action: long, Type: long, ReportingController: long, ReportingInstance: long,
		InvolvedObject: corev1.ObjectReference{FieldPath: long, Name: long, APIVersion: long}, Related: &corev1.ObjectReference{Name: long}, Source: corev1.EventSource{Host: long},
	}
	got, err := trimEvent(e)
	if err != nil {
		t.Fatal(err)
	}
	kept := got.(*corev1.Event)
	if size := kept.Size(); size > 12*maxEventText {
		t.Errorf("%d bytes are kept", size)
	}
	if want := map[string]string{"portico.dev/actor": "kept"}; !maps.Equal(kept.Annotations, want) {
		t.Errorf("annotations %v, want %v", kept.Annotations, want)
	}
	if m := kept.Message; !strings.HasPrefix(m, "xé") || strings.ContainsRune(m, '�') {
		t.Errorf("Message = %.20q, want xé, and no half characters", m)
	}
	if out, err := trimEvent(toolscache.DeletedFinalStateUnknown{Key: "a"}); err != nil || out == nil {
		t.Errorf("a tombstone: %v", err)
	}
}
