package claim

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Work looks after DomainClaims that exist: whose holder is gone, and who deletes one that is held. It implements
// engine.Work.
type Work struct {
	Reader client.Reader // cached
	Live   client.Reader
}

// Sync implements engine.Work.
func (w Work) Sync(ctx context.Context, c *v1alpha1.DomainClaim, _ *engine.Pass) error {
	held, err := w.held(ctx, c)
	if err != nil || held {
		return err
	}
	return engine.Blocked("HolderGone", "the request %s/%s is gone without having given the hostname back: see in AWS whether its records and its certificate are left, then delete this claim",
		c.Spec.Holder.Namespace, c.Spec.Holder.Name)
}

// Release implements engine.Work: a claim that is held stays.
func (w Work) Release(ctx context.Context, c *v1alpha1.DomainClaim, _ *engine.Pass) error {
	held, err := w.held(ctx, c)
	if err != nil || !held {
		return err
	}
	return engine.Blocked("Held", "the request %s/%s has the hostname, and keeps it until it is deleted itself", c.Spec.Holder.Namespace, c.Spec.Holder.Name)
}

// held tells whether the holder exists. That it does not is believed of the API server only.
func (w Work) held(ctx context.Context, c *v1alpha1.DomainClaim) (bool, error) {
	key := types.NamespacedName{Namespace: c.Spec.Holder.Namespace, Name: c.Spec.Holder.Name}
	for _, from := range []client.Reader{w.Reader, w.Live} {
		holder := &v1alpha1.GatewayHostnameRequest{}
		err := from.Get(ctx, key, holder)
		if err == nil && string(holder.HolderUID()) == c.Spec.Holder.UID {
			return true, nil
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("read the request %s: %w", key, err)
		}
	}
	return false, nil
}
