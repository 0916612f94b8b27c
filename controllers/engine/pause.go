package engine

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Withdrawer is a KindReconciler that gives rights to others. Anyone who can edit an object can pause it, so a pause
// must not preserve rights that are no longer allowed.
type Withdrawer[T Object] interface {
	// Withdraw removes rights that the paused obj has given and that are no longer allowed, and does nothing else.
	Withdraw(ctx context.Context, obj T, pass *Pass) error
}

// pause leaves obj alone, except for rights that are no longer allowed.
func (r *Reconciler[T]) pause(ctx context.Context, before, obj T, pass *Pass) (ctrl.Result, error) {
	r.recordHistory(ctx, obj, pass)
	var withdrawn error
	if w, gives := r.KindReconciler.(Withdrawer[T]); gives {
		withdrawn = w.Withdraw(ctx, obj, pass)
	}
	r.sendEvents(obj, &pass.Events)
	setPaused(obj, r.Schedule.Now())
	r.Records.add(r.Kind, obj, passResult{
		at: r.Schedule.Now(), reason: v1alpha1.ReasonPaused,
		message: "all work on this object is stopped",
	})
	result, err := requeueOnConflict(client.IgnoreNotFound(r.patchStatus(ctx, before, obj)))
	if wait, ok := AsWait(withdrawn); ok {
		return ctrl.Result{RequeueAfter: r.Schedule.poll(wait.After)}, err
	}
	if err == nil {
		err = withdrawn
	}
	return result, err
}
