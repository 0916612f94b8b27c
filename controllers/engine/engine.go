// Package engine is the one reconcile loop of this project: deletion → pause → finalizer → Reconcile → finish. A kind
// adds a KindReconciler; only the engine writes the Ready family of conditions, events and results, and finalizers,
// except those of DomainClaims, which their registry creates and deletes.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/fair"
)

// Finalizer keeps an object until its KindReconciler has released what it holds.
const Finalizer = "portico.dev/release"

// conflictRetry is how soon a pass with an outdated object runs again: by then the cache is current.
const conflictRetry = 200 * time.Millisecond

// saveTimeout bounds the status write of a pass whose context has expired.
const saveTimeout = 10 * time.Second

// Object is a custom resource that the engine can reconcile.
type Object interface {
	client.Object
	Common() *v1alpha1.CommonStatus
}

// KindReconciler implements a kind. Both methods are called repeatedly and must be idempotent. They may change obj's
// status, never its spec or metadata.
type KindReconciler[T Object] interface {
	// Reconcile makes the external state match obj's spec and records in obj's status what it observed. nil: they match
	// now.
	Reconcile(ctx context.Context, obj T, pass *Pass) error
	// Finalize undoes Reconcile; nil means that nothing is left to undo, and the object can be removed.
	Finalize(ctx context.Context, obj T, pass *Pass) error
}

// GarbageCollected marks a KindReconciler whose objects own, in Kubernetes, everything created for them: the garbage
// collector deletes it. Such objects get no finalizer, and Finalize is not called.
type GarbageCollected interface{ GarbageCollected() }

// Reconciler runs the loop for one kind.
type Reconciler[T Object] struct {
	Kind           string
	Client         client.Client
	Events         events.EventRecorder
	KindReconciler KindReconciler[T]
	Schedule       Schedule
	// Records stores passes; nil stores nothing.
	Records *Records
	// Teams maps objects to teams.
	Teams *fair.Teams
	// History records earlier specs; nil records nothing.
	History *History
}

// Schedule holds a Reconciler's clock and intervals.
type Schedule struct {
	Resync time.Duration    // how often an object in sync is compared again
	Now    func() time.Time // the clock
	Jitter func() float64   // in [0,1): spreads what would otherwise coincide
	Scale  float64          // of polls, in environments slower or faster than AWS; 0: 1
}

// soonestPoll is the shortest poll interval, however small the scale.
const soonestPoll = 250 * time.Millisecond

// poll returns the scaled interval after which to check an operation in progress.
func (s Schedule) poll(after time.Duration) time.Duration {
	return max(time.Duration(float64(after)*cmp.Or(s.Scale, 1)), min(after, soonestPoll))
}

// Reconcile implements reconcile.ObjectReconciler. A running pass may finish when the operator is stopped.
func (r *Reconciler[T]) Reconcile(ctx context.Context, obj T) (ctrl.Result, error) {
	defer r.Records.begin(r.Kind, client.ObjectKeyFromObject(obj))()
	if !tracing.On() {
		return r.reconcile(ctx, obj)
	}
	ctx, span := tracing.Pass(ctx, r.Kind, obj.GetNamespace(), obj.GetName())
	result, err := r.reconcile(ctx, obj)
	tracing.EndPass(span, r.traceOutcome(obj, err != nil || result.RequeueAfter > 0), err != nil)
	return result, err
}

// traceOutcome returns the outcome of a pass for its span; again means that there will be another one.
func (r *Reconciler[T]) traceOutcome(obj T, again bool) string {
	switch {
	case !obj.GetDeletionTimestamp().IsZero() && !again:
		return "Released"
	case obj.GetDeletionTimestamp().IsZero() && obj.GetAnnotations()[v1alpha1.AnnotationPaused] == "true":
		return v1alpha1.ReasonPaused
	}
	return readyCondition(obj).Reason
}

// reconcile runs one pass over obj.
func (r *Reconciler[T]) reconcile(ctx context.Context, obj T) (ctrl.Result, error) {
	ctx, cancel := withShutdownGrace(ctx)
	defer cancel()
	ctx = fair.WithTeam(ctx, r.Teams.Of(obj.GetNamespace()))
	before := obj.DeepCopyObject().(T)
	pass := &Pass{before: r.Records.ineffectiveOf(r.Kind, obj), refusedBefore: r.Records.refusedOf(r.Kind, obj)}
	if !obj.GetDeletionTimestamp().IsZero() {
		return r.finalize(ctx, before, obj, pass)
	}
	if obj.GetAnnotations()[v1alpha1.AnnotationPaused] == "true" {
		return r.pause(ctx, before, obj, pass)
	}
	if _, cascading := r.KindReconciler.(GarbageCollected); !cascading && controllerutil.AddFinalizer(obj, Finalizer) {
		// The optimistic lock proves that obj is neither stale nor deleted.
		if err := r.Client.Patch(ctx, obj, optimistic(before)); err != nil {
			return requeueOnConflict(fmt.Errorf("add finalizer: %w", err))
		}
		before = obj.DeepCopyObject().(T)
	}
	r.recordHistory(ctx, obj, pass)
	pass.save = func(ctx context.Context) error {
		err := r.forcePatchStatus(ctx, before, obj)
		before = obj.DeepCopyObject().(T)
		return err
	}
	ctx = WithRoutine(ctx, r.Records.routine(r.Kind, obj, r.Schedule.Now()))
	ctx = WithAudit(ctx, r.isAudit(obj))
	ctx = withLastObserved(ctx, r.Records.lastObserved(r.Kind, obj))
	outcome := r.KindReconciler.Reconcile(ctx, obj, pass)
	if errors.Is(outcome, errStale) {
		r.sendEvents(obj, &pass.Events)
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	return r.finish(ctx, before, obj, pass, outcome)
}

// isAudit reports whether a pass over obj that starts now is an audit. After a restart only objects that were Ready and
// are not are audited at once: an audit may have found why.
func (r *Reconciler[T]) isAudit(obj T) bool {
	if _, known := r.Records.last(r.Kind, obj); !known {
		return obj.Common().FirstReadyTime != nil && !obj.Common().Ready
	}
	return r.Records.audit(r.Kind, obj, r.Schedule.Now(), r.scheduleFor(obj, &Events{}).Resync)
}

// errStale ends a pass over an object that has changed since it was read.
var errStale = errors.New("the object has changed since it was read")

// forcePatchStatus writes the status even if it is unchanged: the server compares the resourceVersion, and then stores
// nothing.
func (r *Reconciler[T]) forcePatchStatus(ctx context.Context, before, obj T) error {
	err := r.Client.Status().Patch(ctx, obj, optimistic(before))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errStale
	}
	if err != nil {
		return fmt.Errorf("save the status: %w", err)
	}
	return nil
}

// patchStatus writes the status if the pass changed it.
func (r *Reconciler[T]) patchStatus(ctx context.Context, before, obj T) error {
	if equality.Semantic.DeepEqual(before, obj) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return r.Client.Status().Patch(ctx, obj, optimistic(before))
}

// requeueOnConflict turns a write conflict, which only means that the cache was behind, into a silent retry.
func requeueOnConflict(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	return ctrl.Result{}, err
}

// ignoreConflict drops errors that the next watch event resolves.
func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func optimistic(before client.Object) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}
