package accessbinding

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// resourceChanged lets pass what changes the rights to a resource: its place in AWS, whose it is there, its key, its
// spec, and its end.
func resourceChanged() predicate.Predicate {
	return watch.Changed(func(was, is external.Object) bool {
		_, before := was.AWS()
		_, after := is.AWS()
		return keyOf(was) != keyOf(is) || before.ARN != after.ARN ||
			external.Holds(was) != external.Holds(is) || was.GetGeneration() != is.GetGeneration() ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
	})
}

// keyOf returns the KMS key that rights to a resource take.
func keyOf(obj external.Object) string {
	grant, _ := access.Of(obj, "")
	return grant.Key
}

// roleNamed lets pass a ServiceAccount that is new, or that names another role than before.
func roleNamed() predicate.Predicate {
	return watch.Changed(func(was, is *corev1.ServiceAccount) bool {
		return was.Annotations[v1alpha1.AnnotationRoleARN] != is.Annotations[v1alpha1.AnnotationRoleARN]
	})
}
