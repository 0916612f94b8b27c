package controllers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Managed fields and kubectl's annotation are as large as the object itself, and the operator never reads them from the
// cache.
func TestTheCacheHoldsNothingThatNobodyReads(t *testing.T) {
	obj := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{
			corev1.LastAppliedConfigAnnotation: strings.Repeat("x", 1<<18),
			v1alpha1.AnnotationPaused:          "true",
		},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(strings.Repeat("x", 1<<18))},
		},
	}}
	kept, err := Cache("portico-system").DefaultTransform(obj)
	if err != nil {
		t.Fatal(err)
	}
	got := kept.(*v1alpha1.S3Bucket)
	if len(got.ManagedFields) > 0 || len(got.Annotations) != 1 || got.Annotations[v1alpha1.AnnotationPaused] != "true" {
		t.Errorf("it keeps %d managers, and the annotations %q", len(got.ManagedFields), got.Annotations)
	}
}
