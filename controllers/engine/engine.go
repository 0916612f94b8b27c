// Package engine is the one reconcile loop of this project: deletion → pause → finalizer → Sync → finish. A kind adds
// Work; the engine alone writes finalizers, the Ready family of conditions, events and results.
package engine

import (
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
)

// Finalizer keeps an object until its Work has released what it holds.
const Finalizer = "portico.dev/release"

// conflictRetry is how soon a pass runs again whose view of the object was old: by then the cache has the new one.
const conflictRetry = 200 * time.Millisecond

// saveTimeout bounds the status write of a pass whose own time is over.
const saveTimeout = 10 * time.Second

// Object is a custom resource that the engine can carry.
type Object interface {
	client.Object
	Common() *v1alpha1.CommonStatus
}

// Work is what a kind adds to the engine. Both methods are called again and again, so both must be safe to repeat.
// They may change obj's status, never its spec or metadata.
type Work[T Object] interface {
	// Sync brings the world to what obj's spec asks and records in obj's status what it saw. nil: it holds now.
	Sync(ctx context.Context, obj T, pass *Pass) error
	// Release undoes Sync; nil means that nothing is left to undo, and the object goes.
	Release(ctx context.Context, obj T, pass *Pass) error
}

// Cascading is Work whose objects own, in Kubernetes, everything that is made for them: the garbage collector releases it.
// Such objects get no finalizer, and Release is not called.
type Cascading interface{ Cascades() }

// Reconciler runs one kind's Work.
type Reconciler[T Object] struct {
	Kind   string
	Client client.Client
	Events events.EventRecorder
	Work   Work[T]
	Pace   Pace
	// Records remembers passes; nil remembers nothing.
	Records *Records
}

// Pace is the time in a Reconciler's life.
type Pace struct {
	Resync time.Duration    // how often an object in sync is compared again
	Now    func() time.Time // the clock
	Jitter func() float64   // in [0,1): spreads what would else fall on the same moment
}

// Reconcile implements reconcile.ObjectReconciler. A pass may finish when the operator is asked to end.
func (r *Reconciler[T]) Reconcile(ctx context.Context, obj T) (ctrl.Result, error) {
	if !tracing.On() {
		return r.pass(ctx, obj)
	}
	ctx, span := tracing.Pass(ctx, r.Kind, obj.GetNamespace(), obj.GetName())
	result, err := r.pass(ctx, obj)
	tracing.EndPass(span, r.outcome(obj, err != nil || result.RequeueAfter > 0), err != nil)
	return result, err
}

// outcome is how a pass ended, for its span; again says that there will be another one.
func (r *Reconciler[T]) outcome(obj T, again bool) string {
	switch {
	case !obj.GetDeletionTimestamp().IsZero() && !again:
		return "Released"
	case obj.GetDeletionTimestamp().IsZero() && obj.GetAnnotations()[v1alpha1.AnnotationPaused] == "true":
		return "Paused"
	}
	return readyOf(obj).Reason
}

// pass is one pass over obj.
func (r *Reconciler[T]) pass(ctx context.Context, obj T) (ctrl.Result, error) {
	ctx, cancel := outliving(ctx)
	defer cancel()
	before := obj.DeepCopyObject().(T)
	pass := &Pass{before: r.Records.unkeptBy(r.Kind, obj)}
	if !obj.GetDeletionTimestamp().IsZero() {
		return r.release(ctx, before, obj, pass)
	}
	if obj.GetAnnotations()[v1alpha1.AnnotationPaused] == "true" {
		setPaused(obj, r.Pace.Now())
		r.Records.ended(r.Kind, obj, ended{at: r.Pace.Now(), reason: "Paused", message: "all work on this object is stopped"})
		return retry(client.IgnoreNotFound(r.save(ctx, before, obj)))
	}
	if _, cascading := r.Work.(Cascading); !cascading && controllerutil.AddFinalizer(obj, Finalizer) {
		// The optimistic lock makes this the proof that obj is neither stale nor deleted.
		if err := r.Client.Patch(ctx, obj, optimistic(before)); err != nil {
			return retry(fmt.Errorf("add finalizer: %w", err))
		}
		before = obj.DeepCopyObject().(T)
	}
	pass.save = func(ctx context.Context) error {
		err := r.prove(ctx, before, obj)
		before = obj.DeepCopyObject().(T)
		return err
	}
	ctx = Routine(ctx, r.Records.routine(r.Kind, obj, r.Pace.Now()))
	ctx = since(ctx, r.Records.lastLook(r.Kind, obj))
	outcome := r.Work.Sync(ctx, obj, pass)
	if errors.Is(outcome, errStale) {
		r.send(obj, &pass.Notes)
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	return r.finish(ctx, before, obj, pass, outcome)
}

// errStale ends a pass over an object that has changed since it was read.
var errStale = errors.New("the object has changed since it was read")

// prove writes the status even if nothing changed in it: the server compares the version, and then stores nothing.
func (r *Reconciler[T]) prove(ctx context.Context, before, obj T) error {
	err := r.Client.Status().Patch(ctx, obj, optimistic(before))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errStale
	}
	if err != nil {
		return fmt.Errorf("save the status: %w", err)
	}
	return nil
}

func (r *Reconciler[T]) release(ctx context.Context, before, obj T, pass *Pass) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(obj, Finalizer) {
		return ctrl.Result{}, nil
	}
	if err := r.Work.Release(ctx, obj, pass); err != nil {
		return r.finish(ctx, before, obj, pass, err)
	}
	r.send(obj, &pass.Notes)
	r.Records.forget(r.Kind, client.ObjectKeyFromObject(obj))
	// Not optimistic(before): Release may have noted something in the status, which goes with the object.
	last := before.DeepCopyObject().(T)
	controllerutil.RemoveFinalizer(last, Finalizer)
	return retry(client.IgnoreNotFound(r.Client.Patch(ctx, last, optimistic(before))))
}

// save writes the status if the pass changed it.
func (r *Reconciler[T]) save(ctx context.Context, before, obj T) error {
	if equality.Semantic.DeepEqual(before, obj) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	return r.Client.Status().Patch(ctx, obj, optimistic(before))
}

// retry turns a write conflict, which only says that the cache was behind, into a silent second try.
func retry(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	return ctrl.Result{}, err
}

// quiet drops the errors that the next watch event answers by itself.
func quiet(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func optimistic(before client.Object) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}
