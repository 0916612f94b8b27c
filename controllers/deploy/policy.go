package deploy

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/watch"
)

// checkEvery is how often is looked whether the issuers answer.
const checkEvery = 10 * time.Minute

// PolicyReconciler implements engine.KindReconciler for DeployPolicy: it looks whether the issuers answer.
type PolicyReconciler struct {
	Issuers *Issuers
	Cached  client.Reader
}

// Reconcile implements engine.KindReconciler.
func (r PolicyReconciler) Reconcile(ctx context.Context, p *v1alpha1.DeployPolicy, _ *engine.Pass) error {
	r.Issuers.Keep(p)
	var teams v1alpha1.TeamList
	if err := r.Cached.List(ctx, &teams); err != nil {
		return fmt.Errorf("count the deployers of teams: %w", err)
	}
	deployers := 0
	for i := range teams.Items {
		deployers += len(teams.Items[i].Spec.Deployers)
	}
	p.Status.Issuers = int32(len(p.Spec.Issuers)) //nolint:gosec // 10 at most
	p.Status.Deployers = int32(deployers)
	failures := make([]error, len(p.Spec.Issuers))
	var g errgroup.Group
	for i := range p.Spec.Issuers {
		g.Go(func() error {
			failures[i] = r.Issuers.Check(ctx, &p.Spec.Issuers[i])
			return nil // the others are looked at all the same
		})
	}
	_ = g.Wait()
	for i, err := range failures {
		if err != nil {
			return engine.Wait(v1alpha1.ReasonIssuerUnavailable, time.Minute, "issuer %s: its keys cannot be read, so "+
				"that its tokens are not exchanged: %w", p.Spec.Issuers[i].Name, err)
		}
	}
	return nil
}

// Finalize implements engine.KindReconciler; it is not called.
func (r PolicyReconciler) Finalize(context.Context, *v1alpha1.DeployPolicy, *engine.Pass) error {
	return nil
}

// GarbageCollected implements engine.GarbageCollected: nothing is made for a DeployPolicy.
func (r PolicyReconciler) GarbageCollected() {}

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager, issuers *Issuers, o engine.Options) error {
	o.Resync = checkEvery
	reconciler := PolicyReconciler{Issuers: issuers, Cached: mgr.GetClient()}
	return engine.Setup(mgr, &v1alpha1.DeployPolicy{}, reconciler, o, func(b *builder.Builder) {
		b.Watches(&v1alpha1.Team{}, handler.EnqueueRequestsFromMapFunc(
			func(context.Context, client.Object) []reconcile.Request {
				return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: v1alpha1.DeployPolicyName}}}
			}), builder.WithPredicates(watch.Changed(func(was, is client.Object) bool {
			return len(was.(*v1alpha1.Team).Spec.Deployers) != len(is.(*v1alpha1.Team).Spec.Deployers)
		})))
	})
}
