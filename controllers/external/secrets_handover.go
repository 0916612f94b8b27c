package external

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// LetGo removes obj's Secrets from garbage collection, which would delete them after obj: the object that replaces obj
// adopts them, so passwords and connection details are kept.
func (s Secrets) LetGo(ctx context.Context, kind string, obj client.Object) error {
	for _, purpose := range []string{purposeBinding, PurposeMaster} {
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: obj.GetNamespace(), Name: SecretName(kind, obj, purpose)}
		found, err := engine.Find(ctx, s.APIReader, key, secret)
		// The deletion of obj is cancelled too, before obj adopted what was kept for it.
		if err == nil && found && isKeptFor(secret, obj) {
			err = s.takeUp(ctx, obj, secret)
		}
		if err != nil {
			return err
		}
		if !found || !metav1.IsControlledBy(secret, obj) {
			continue
		}
		err = s.edit(ctx, secret, func() {
			secret.OwnerReferences = slices.DeleteFunc(secret.OwnerReferences, func(r metav1.OwnerReference) bool {
				return r.UID == obj.GetUID()
			})
			metav1.SetMetaDataAnnotation(&secret.ObjectMeta, v1alpha1.AnnotationKeptFor, string(obj.GetUID()))
		})
		if err != nil {
			return fmt.Errorf("keep the Secret %s: %w", secret.Name, err)
		}
	}
	return nil
}

// isKeptFor reports whether obj replaces the object that owned secret.
func isKeptFor(secret *corev1.Secret, obj client.Object) bool {
	kept := secret.Annotations[v1alpha1.AnnotationKeptFor]
	return kept != "" && kept == obj.GetAnnotations()[v1alpha1.AnnotationKeptFrom] &&
		metav1.GetControllerOf(secret) == nil
}

// takeUp makes obj the owner of a Secret of the object that it replaces.
func (s Secrets) takeUp(ctx context.Context, obj client.Object, secret *corev1.Secret) error {
	var failed error
	err := s.edit(ctx, secret, func() {
		delete(secret.Annotations, v1alpha1.AnnotationKeptFor)
		failed = controllerutil.SetControllerReference(obj, secret, s.Client.Scheme())
	})
	if failed != nil || err != nil {
		return fmt.Errorf("take up the Secret %s: %w", secret.Name, cmp.Or(failed, err))
	}
	return nil
}

// edit updates a Secret at the resourceVersion at which it was read.
func (s Secrets) edit(ctx context.Context, secret *corev1.Secret, change func()) error {
	before := secret.DeepCopy()
	change()
	return s.Client.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
