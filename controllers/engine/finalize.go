package engine

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// finalize cleans up, unless an earlier pass did, and removes the finalizer, so that Kubernetes deletes obj.
func (r *Reconciler[T]) finalize(ctx context.Context, before, obj T, pass *Pass) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(obj, Finalizer) {
		return ctrl.Result{}, nil
	}
	if !r.Records.released(r.Kind, obj) {
		err := protection(obj)
		if err == nil {
			err = r.KindReconciler.Finalize(ctx, obj, pass)
		}
		if err != nil {
			return r.finish(ctx, before, obj, pass, err)
		}
		r.sendEvents(obj, &pass.Events)
		r.Records.release(r.Kind, obj)
	}
	// Not optimistic(before): Finalize may have changed the status, which is deleted with the object.
	last := before.DeepCopyObject().(T)
	controllerutil.RemoveFinalizer(last, Finalizer)
	err := client.IgnoreNotFound(r.Client.Patch(ctx, last, optimistic(before)))
	if err == nil {
		r.Records.forget(r.Kind, client.ObjectKeyFromObject(obj))
	}
	return requeueOnConflict(err)
}

// protection returns an error while obj has the protection annotation and its deletion is not confirmed. Admission
// requires the confirmation from people; the deletion of a namespace deletes its objects without it.
func protection(obj client.Object) error {
	notes := obj.GetAnnotations()
	if notes[v1alpha1.AnnotationDeletionProtection] != "true" ||
		notes[v1alpha1.AnnotationConfirmDeletion] == obj.GetName() {
		return nil
	}
	return Blocked(v1alpha1.ReasonDeletionProtected, "the annotation %s protects this object, and its deletion was "+
		"not confirmed; nothing was deleted. To have it deleted, set the annotation %s=%s, or remove %[1]s",
		v1alpha1.AnnotationDeletionProtection, v1alpha1.AnnotationConfirmDeletion, obj.GetName())
}
