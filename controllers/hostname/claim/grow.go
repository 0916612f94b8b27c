package claim

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// Grow reserves more of the load balancer for a claim: as much of wanted as the reservations of other claims leave room
// for. A claim never shrinks: routes that use the budget would stop working.
func (r *Registry) Grow(ctx context.Context, held *v1alpha1.DomainClaim, wanted v1alpha1.LoadBalancerBudget) (
	*v1alpha1.DomainClaim, error,
) {
	budgeted := held.Spec.Budget != (v1alpha1.LoadBalancerBudget{})
	if budgeted && wanted.Within(held.Spec.Budget) {
		return held, nil
	}
	if _, err := r.open(ctx); err != nil {
		return nil, err
	}
	after, grown, err := r.reserveGrowth(ctx, held, wanted)
	switch {
	case err != nil:
		return nil, err
	case grown == nil:
		return held, nil
	}
	patch := client.MergeFromWithOptions(held, client.MergeFromWithOptimisticLock{})
	err = r.Client.Patch(ctx, after, patch, client.FieldOwner("portico"))
	if err != nil {
		r.ungrow(held.Name, grown)
	}
	if apierrors.IsConflict(err) {
		return nil, engine.Wait(v1alpha1.ReasonClaiming, time.Second, "the claim has changed since it was read")
	}
	if err != nil {
		return nil, fmt.Errorf("keep more of the load balancer for the DomainClaim %s: %w", held.Name, err)
	}
	r.note(after)
	return after, nil
}

// reserveGrowth returns the claim with its new budget, which is pending from now on; nil if the budget does not change.
func (r *Registry) reserveGrowth(ctx context.Context, held *v1alpha1.DomainClaim, wanted v1alpha1.LoadBalancerBudget) (
	*v1alpha1.DomainClaim, *growth, error,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, err := r.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	var others []v1alpha1.DomainClaimSpec
	for _, one := range all {
		if one.name != held.Name {
			others = append(others, one.spec)
		}
	}
	grown := pool.Room(held.Spec.Gateway, others).Least(wanted).Max(held.Spec.Reserved())
	if grown == held.Spec.Budget {
		return nil, nil, nil
	}
	after := held.DeepCopy()
	after.Spec.Budget = grown
	before := r.pending[held.Name]
	if before != nil && (before.state != created || before.uid != held.UID) {
		return nil, nil, engine.Wait(v1alpha1.ReasonClaiming, time.Second, "the claim was given back since it was read")
	}
	g := &growth{pending{spec: after.Spec, state: created, inFlight: true, uid: held.UID}, before}
	r.pending[held.Name] = &g.pending
	return after, g, nil
}

// growth is a larger budget that is pending, and what was pending before.
type growth struct {
	pending

	before *pending
}

// ungrow puts back what was pending before a budget that could not be changed, unless something else has replaced it.
func (r *Registry) ungrow(name string, g *growth) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.pending[name] != &g.pending:
	case g.before != nil:
		r.pending[name] = g.before
	default:
		delete(r.pending, name)
	}
}
