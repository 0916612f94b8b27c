package engine

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// finalize cleans up, unless an earlier pass did, and removes the finalizer: then Kubernetes deletes obj.
func (r *Reconciler[T]) finalize(ctx context.Context, before, obj T, pass *Pass) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(obj, Finalizer) {
		return ctrl.Result{}, nil
	}
	if !r.Records.released(r.Kind, obj) {
		if err := r.KindReconciler.Finalize(ctx, obj, pass); err != nil {
			return r.finish(ctx, before, obj, pass, err)
		}
		r.sendEvents(obj, &pass.Events)
		r.Records.release(r.Kind, obj)
	}
	// Not optimistic(before): Finalize may have noted something in the status, which goes with the object.
	last := before.DeepCopyObject().(T)
	controllerutil.RemoveFinalizer(last, Finalizer)
	err := client.IgnoreNotFound(r.Client.Patch(ctx, last, optimistic(before)))
	if err == nil {
		r.Records.forget(r.Kind, client.ObjectKeyFromObject(obj))
	}
	return requeueOnConflict(err)
}
