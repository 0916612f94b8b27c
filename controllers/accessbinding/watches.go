package accessbinding

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// resourceChanged passes changes that affect the rights to a resource: its ARN, its ownership, its key, its spec, and
// its deletion.
func resourceChanged() predicate.Predicate {
	return watch.Changed(func(was, is external.Object) bool {
		_, before := was.AWS()
		_, after := is.AWS()
		return keyOf(was) != keyOf(is) || before.ARN != after.ARN ||
			external.Holds(was) != external.Holds(is) || was.GetGeneration() != is.GetGeneration() ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
	})
}

// keyOf returns the KMS key that rights to a resource include.
func keyOf(obj external.Object) string {
	grant, _ := access.Of(obj, "")
	return grant.Key
}

// roleNamed passes a ServiceAccount that is new, or whose role has changed.
func roleNamed() predicate.Predicate {
	return watch.Changed(func(was, is *corev1.ServiceAccount) bool {
		return was.Annotations[v1alpha1.AnnotationRoleARN] != is.Annotations[v1alpha1.AnnotationRoleARN]
	})
}
