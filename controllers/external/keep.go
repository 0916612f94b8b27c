package external

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// keep cancels a deletion on request: the resource is unchanged, and the request is recorded, so that it is created
// again under the same name. It reports whether obj can be removed now. If AWS has begun to delete the resource, the
// deletion continues.
func (rec Reconciler[T, S]) keep(ctx context.Context, obj T, pass *engine.Pass) (kept bool, err error) {
	if rec.Keep == nil || obj.GetAnnotations()[v1alpha1.AnnotationKeep] != "true" {
		return false, nil
	}
	_, status := obj.AWS()
	c, err := rec.Connect(ctx, obj)
	if err != nil {
		return false, err
	}
	seen, err := c.Adapter.Observe(ctx, obj)
	if err != nil {
		return false, err
	}
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	switch {
	case seen == nil:
		pass.Warning(v1alpha1.ReasonKeepRefused, "Keep", "%s is gone or was never made: there is nothing to keep, "+
			"and the deletion goes on", nameOf(status))
		return false, nil
	case ready != nil && ready.Reason == v1alpha1.ReasonDeleting, isDeleting(c.Adapter, seen):
		pass.Warning(v1alpha1.ReasonKeepRefused, "Keep", "AWS is deleting %s already, and nothing stops that",
			nameOf(status))
		return false, nil
	}
	if err := rec.waitUntilFound(status); err != nil {
		return false, err
	}
	if err := rec.vacate(ctx, obj, pass); err != nil {
		return false, err
	}
	err = rec.Keep(ctx, obj)
	if errors.Is(err, ErrNamespaceLeaves) {
		pass.Warning(v1alpha1.ReasonKeepRefused, "Keep", "the namespace is being deleted: nothing is kept in it, and "+
			"the deletion goes on")
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("keep %s: %w", nameOf(status), err)
	}
	pass.Normal(v1alpha1.ReasonKept, "Keep", "%s stays as it is, and the resource is created again for it",
		nameOf(status))
	return true, nil
}

// ErrNamespaceLeaves is returned by Reconciler.Keep in a namespace that is being deleted.
var ErrNamespaceLeaves = errors.New("the namespace is being deleted")

// wasKept reports whether obj was created for an existing resource, and has not observed it yet.
func wasKept(obj Object) bool {
	_, status := obj.AWS()
	return obj.GetAnnotations()[v1alpha1.AnnotationKeptFrom] != "" && status.FirstReadyTime == nil &&
		status.Recreations == 0
}
