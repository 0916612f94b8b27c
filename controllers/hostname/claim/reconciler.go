package claim

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Reconciler reconciles existing DomainClaims: it handles claims whose holder is gone, and the deletion of claims that
// are held. It implements engine.KindReconciler.
type Reconciler struct {
	Reader    client.Reader // cached
	APIReader client.Reader
}

// Reconcile implements engine.KindReconciler.
func (r Reconciler) Reconcile(ctx context.Context, c *v1alpha1.DomainClaim, _ *engine.Pass) error {
	held, err := r.held(ctx, c)
	if err != nil || held {
		return err
	}
	return engine.Blocked(v1alpha1.ReasonHolderGone, "the request %s/%s is gone without having given the hostname "+
		"back: see in AWS whether its records and its certificate are left, then delete this claim",
		c.Spec.Holder.Namespace, c.Spec.Holder.Name)
}

// Finalize implements engine.KindReconciler: a claim that is held is not deleted.
func (r Reconciler) Finalize(ctx context.Context, c *v1alpha1.DomainClaim, _ *engine.Pass) error {
	held, err := r.held(ctx, c)
	if err != nil || !held {
		return err
	}
	return engine.Blocked(v1alpha1.ReasonHeld, "the request %s/%s has the hostname, and keeps it until it is "+
		"deleted itself", c.Spec.Holder.Namespace, c.Spec.Holder.Name)
}

// held reports whether the holder exists. Only the API server's answer counts as proof that it does not.
func (r Reconciler) held(ctx context.Context, c *v1alpha1.DomainClaim) (bool, error) {
	for _, from := range []client.Reader{r.Reader, r.APIReader} {
		if exists, err := holderExists(ctx, from, c.Spec.Holder); exists || err != nil {
			return exists, err
		}
	}
	return false, nil
}
