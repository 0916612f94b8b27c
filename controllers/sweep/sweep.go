// Package sweep looks every few minutes whether what AWS should have is still there: by one listing for all objects of
// a kind, a provider and a region. It decides nothing. An object whose resource a listing does not show is woken, and
// looks for itself; so an incomplete listing can neither create nor delete anything.
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
	// List lists the ARNs of all resources of the kind that a session sees: all of them, or an error.
	List func(context.Context, *cloud.Session) ([]string, error)
	// Objects calls each for every object of the kind, from the cache.
	Objects func(ctx context.Context, each func(external.Object)) error
	// Enqueue asks for a pass over obj.
	Enqueue func(ctx context.Context, obj external.Object)
}

// Sweeper sweeps all kinds. It implements manager.Runnable, for the leader alone.
type Sweeper struct {
	Kinds    []Kind
	Reader   client.Reader // cached
	Sessions *cloud.Sessions
	Every    time.Duration
}

// Start implements manager.Runnable. The first sweep comes after one interval: at the start every object looks for
// itself.
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

// group is what one listing covers.
type group struct{ provider, account, region string }

// Sweep goes over all kinds once. A listing that fails is told in the log and the metrics, and proves nothing.
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
	_ = at.Wait() // a failed listing is told where it fails
}

const (
	maxConcurrent = 8               // listings at the same time: a slow account must not hold up the others
	listTimeout   = 2 * time.Minute // that one listing may take
)

// expected reports whether AWS must have obj's resource: one that is not in sync is looked after already.
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
		log.FromContext(ctx).Info("sweep: the listing failed, which proves nothing", "kind", kind.Name, "provider", g.provider, "region", g.region, "cause", err.Error())
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
	if !meta.IsStatusConditionTrue(provider.Status.Conditions, cloud.ConditionAuthenticated) {
		return nil, engine.Blocked(v1alpha1.ReasonProviderNotReady, "provider %s cannot be used", g.provider)
	}
	session, err := s.Sessions.For(ctx, provider, "")
	if err != nil {
		return nil, err
	}
	if session.AccountID != g.account {
		return nil, engine.Blocked(v1alpha1.ReasonAccountMismatch, "provider %s leads to account %s, and not to %s", g.provider, session.AccountID, g.account)
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
