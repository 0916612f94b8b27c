package webapp

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// rollBack executes the rollback annotation once: it sets spec.image and removes the annotation, in one write at the
// version that was read. An impossible rollback is reported and removed too, so that it does not happen much later.
func (rec Reconciler) rollBack(ctx context.Context, app *v1alpha1.WebApp, pass *engine.Pass) error {
	wish, asked := app.Annotations[v1alpha1.AnnotationRollback]
	if !asked {
		return nil
	}
	target, why := rollbackTarget(app, wish)
	if why == nil {
		err := rec.consumeRollback(ctx, app, target.Image)
		if err == nil {
			pass.Normal(v1alpha1.ReasonRolledBack, "Rollback", "spec.image %s → %s, which is that of revision %d",
				app.Spec.Image, target.Image, target.Revision)
			return engine.Wait(v1alpha1.ReasonRollingBack, 0, "spec.image becomes %s", target.Image)
		}
		if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
			return fmt.Errorf("roll back: %w", err)
		}
		why = fmt.Errorf("the cluster refuses the image of revision %d: %w", target.Revision, err)
	}
	if err := rec.consumeRollback(ctx, app, app.Spec.Image); err != nil {
		return fmt.Errorf("take the annotation %s away: %w", v1alpha1.AnnotationRollback, err)
	}
	pass.Warning(v1alpha1.ReasonRollbackImpossible, "Rollback", "%s %q: %v; nothing was changed",
		v1alpha1.AnnotationRollback, wish, why)
	return engine.Wait(v1alpha1.ReasonRollbackImpossible, 0, "%w", why)
}

// consumeRollback sets the image and removes the annotation.
func (rec Reconciler) consumeRollback(ctx context.Context, app *v1alpha1.WebApp, image string) error {
	changed := app.DeepCopy()
	delete(changed.Annotations, v1alpha1.AnnotationRollback)
	changed.Spec.Image = image
	return rec.Applier.Client.Patch(
		ctx, changed, client.MergeFromWithOptions(app.DeepCopy(), client.MergeFromWithOptimisticLock{}),
		client.FieldOwner(v1alpha1.ManagerRollback))
}

// rollbackTarget returns the revision that the annotation's value requests.
func rollbackTarget(app *v1alpha1.WebApp, wish string) (v1alpha1.WebAppRevision, error) {
	number, err := strconv.ParseInt(wish, 10, 64)
	if err != nil && wish != v1alpha1.RollbackPrevious {
		return v1alpha1.WebAppRevision{}, fmt.Errorf("write %s, or the number of a revision in status.revisions",
			v1alpha1.RollbackPrevious)
	}
	for _, r := range app.Status.Revisions {
		switch {
		case wish == v1alpha1.RollbackPrevious && r.Image != app.Spec.Image && !r.NeverAvailable:
			return r, nil
		case err == nil && r.Revision == number && r.Image == app.Spec.Image:
			return r, fmt.Errorf("spec.image is already %s, the image of revision %d", r.Image, number)
		case err == nil && r.Revision == number && app.Status.NeverServed(r.Image):
			return r, fmt.Errorf("revision %d never served: none of its replicas became available. To try its image "+
				"again, set spec.image to %s", number, r.Image)
		case err == nil && r.Revision == number:
			return r, nil
		}
	}
	if err == nil {
		return v1alpha1.WebAppRevision{},
			fmt.Errorf("there is no revision %d any more; status.revisions lists those that can be gone back to",
				number)
	}
	return v1alpha1.WebAppRevision{}, errors.New("there is no earlier revision with another image that has served")
}
