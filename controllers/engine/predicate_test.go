package engine

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestChanged(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(*v1alpha1.S3Bucket)
		want   bool
	}{
		{"our own status", func(b *v1alpha1.S3Bucket) { b.Status.Ready = true; b.ResourceVersion = "2" }, false},
		{"a label", func(b *v1alpha1.S3Bucket) { b.Labels = map[string]string{"a": "b"} }, false},
		{"another annotation", func(b *v1alpha1.S3Bucket) { b.Annotations = map[string]string{"a": "b"} }, false},
		{"the spec", func(b *v1alpha1.S3Bucket) { b.Generation++ }, true},
		{"another object of the same name", func(b *v1alpha1.S3Bucket) { b.UID = "other" }, true},
		{"pause", annotated(v1alpha1.AnnotationPaused), true},
		{"reconcile now", annotated(v1alpha1.AnnotationReconcileRequestedAt), true},
		{"acknowledgement", annotated(v1alpha1.AnnotationAcknowledgeRecreate), true},
	} {
		t.Run(x.name, func(t *testing.T) {
			was, is := &v1alpha1.S3Bucket{}, &v1alpha1.S3Bucket{}
			x.change(is)
			if got := SpecOrTriggerChanged().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: is}); got != x.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func annotated(key string) func(*v1alpha1.S3Bucket) {
	return func(b *v1alpha1.S3Bucket) { b.Annotations = map[string]string{key: "1"} }
}
