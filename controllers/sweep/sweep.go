// Package sweep checks every few minutes whether the expected AWS resources still exist, with one list call for all
// objects of a kind, a provider and a region. It decides nothing: it enqueues the objects whose resource is missing
// from a list, and their reconcilers check for themselves. So an incomplete list cannot create or delete anything.
package sweep

import (
	"context"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// Kind is one kind to sweep.
type Kind struct {
	Name string
	// List returns the ARNs of all resources of the kind that a session sees. It never returns a partial list without
	// an error.
	List func(context.Context, *cloud.Session) ([]string, error)
	// Objects calls each with every object of the kind, from the cache.
	Objects func(ctx context.Context, each func(external.Object)) error
	// Enqueue requests a reconciliation of obj.
	Enqueue func(ctx context.Context, obj external.Object)
}

// Sweeper sweeps all kinds. It implements manager.Runnable and runs on the leader only.
type Sweeper struct {
	Kinds    []Kind
	Reader   client.Reader // cached
	Sessions *cloud.Sessions
	Every    time.Duration
}

// Start implements manager.Runnable. The first sweep starts after one interval, since every object is reconciled at the
// start anyway.
func (s *Sweeper) Start(ctx context.Context) error {
	for {
		timer := time.NewTimer(time.Duration(float64(s.Every) * (0.9 + 0.2*rand.Float64()))) //nolint:gosec // it only spreads load
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
			s.Sweep(ctx)
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *Sweeper) NeedLeaderElection() bool { return true }

// group identifies the objects that one list covers.
type group struct{ provider, account, region string }

// Sweep sweeps all kinds once. A list that fails is logged and counted, and proves nothing.
func (s *Sweeper) Sweep(ctx context.Context) {
	ctx = engine.WithRoutine(ctx, true)
	at := &errgroup.Group{}
	at.SetLimit(maxConcurrent)
	for _, kind := range s.Kinds {
		groups := map[group][]external.Object{}
		err := kind.Objects(ctx, func(obj external.Object) {
			if expected(obj) {
				groups[groupOf(obj)] = append(groups[groupOf(obj)], obj)
			}
		})
		if err != nil {
			log.FromContext(ctx).Error(err, "sweep: list objects", "kind", kind.Name)
			continue
		}
		for g, objects := range groups {
			at.Go(func() error {
				s.sweep(ctx, kind, g, objects)
				return nil
			})
		}
	}
	_ = at.Wait() // errors are logged where they occur
}

const (
	maxConcurrent = 8               // lists at the same time: a slow account must not delay the others
	listTimeout   = 2 * time.Minute // for one list
)

// expected reports whether AWS should have obj's resource. An object that is not Ready is reconciled anyway.
func expected(obj external.Object) bool {
	_, status := obj.AWS()
	return status.ARN != "" && status.Ready && !external.ObserveOnly(obj) && obj.GetDeletionTimestamp().IsZero() &&
		obj.GetAnnotations()[v1alpha1.AnnotationPaused] != "true"
}

func groupOf(obj external.Object) group {
	spec, status := obj.AWS()
	return group{provider: spec.ProviderRef.Name, account: status.AccountID, region: status.Region}
}

func (s *Sweeper) sweep(ctx context.Context, kind Kind, g group, objects []external.Object) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	there, err := s.list(ctx, kind, g)
	sweeps.WithLabelValues(kind.Name, result(err)).Inc()
	if err != nil {
		log.FromContext(ctx).Info("sweep: the listing failed, which proves nothing", "kind", kind.Name, "provider",
			g.provider, "region", g.region, "cause", err.Error())
		return
	}
	for _, obj := range objects {
		if _, status := obj.AWS(); !there[status.ARN] {
			missing.WithLabelValues(kind.Name).Inc()
			kind.Enqueue(ctx, obj)
		}
	}
}

func (s *Sweeper) list(ctx context.Context, kind Kind, g group) (map[string]bool, error) {
	provider := &v1alpha1.AWSProvider{}
	if err := s.Reader.Get(ctx, client.ObjectKey{Name: g.provider}, provider); err != nil {
		return nil, err
	}
	if !meta.IsStatusConditionTrue(provider.Status.Conditions, v1alpha1.ConditionAuthenticated) {
		return nil, engine.Blocked(v1alpha1.ReasonProviderNotReady, "provider %s cannot be used", g.provider)
	}
	session, err := s.Sessions.For(ctx, provider, "")
	if err != nil {
		return nil, err
	}
	if session.AccountID != g.account {
		return nil, engine.Blocked(v1alpha1.ReasonAccountMismatch, "provider %s leads to account %s, and not to %s",
			g.provider, session.AccountID, g.account)
	}
	arns, err := kind.List(ctx, session.In(g.region, kind.Name, ""))
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(arns))
	for _, arn := range arns {
		there[arn] = true
	}
	return there, nil
}
