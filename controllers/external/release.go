package external

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Finalize implements engine.KindReconciler: the deletion policy decides what happens to the resource.
func (rec Reconciler[T, S]) Finalize(ctx context.Context, obj T, pass *engine.Pass) error {
	_, status := obj.AWS()
	if ObserveOnly(obj) || status.AccountID == "" { // without an account nothing was ever reserved: see Adapter.Reserve
		return nil
	}
	rec.correctLastSync(status)
	if kept, err := rec.keep(ctx, obj, pass); kept || err != nil {
		return err
	}
	switch obj.Policy() {
	case v1alpha1.DeletionRetain:
		if err := rec.waitUntilFound(status); err != nil {
			return err
		}
		if err := rec.vacate(ctx, obj, pass); err != nil {
			return err
		}
		pass.Normal(v1alpha1.ReasonRetained, "Release", "%s stays, with its ownership tags", nameOf(status))
		return nil
	case v1alpha1.DeletionOrphan:
		if err := rec.vacate(ctx, obj, pass); err != nil {
			return err
		}
		return rec.orphan(ctx, obj, pass)
	case v1alpha1.DeletionStop:
		return rec.stop(ctx, obj, pass)
	default:
		return rec.delete(ctx, obj, pass)
	}
}

func (rec Reconciler[T, S]) vacate(ctx context.Context, obj T, pass *engine.Pass) error {
	if rec.Vacate == nil {
		return nil
	}
	return rec.Vacate(ctx, obj, pass)
}

// waitUntilFound returns an error while a retained resource may not be found by its tags yet: the next object of the
// name would create another one.
func (rec Reconciler[T, S]) waitUntilFound(status *v1alpha1.AWSStatus) error {
	if !rec.FoundByTags || !rec.recentlyChanged(status) {
		return nil
	}
	return engine.Wait(v1alpha1.ReasonSettling, rec.pollInterval(), "%s stays, and was created or changed a short "+
		"time ago; the deletion waits until AWS surely shows its tags, so that the next request of this name finds it",
		nameOf(status))
}

// orphanTimeout is how long an unresponsive account may block a policy that deletes nothing.
const orphanTimeout = time.Minute

// orphan releases the resource. It succeeds even if the account cannot be reached: the policy promises that nothing is
// deleted, and a leftover tag does no harm.
func (rec Reconciler[T, S]) orphan(ctx context.Context, obj T, pass *engine.Pass) error {
	_, status := obj.AWS()
	freed, err := rec.disown(ctx, obj)
	if err == nil && freed {
		pass.Normal(v1alpha1.ReasonOrphaned, "Release", "%s stays, without Portico's tags", nameOf(status))
	}
	if err == nil {
		return nil
	}
	wait, ok := engine.AsWait(err)
	if settling := ok && wait.Reason == v1alpha1.ReasonSettling; settling || (!ok || !wait.Stalled) && rec.Now().Sub(
		obj.GetDeletionTimestamp().Time) < orphanTimeout {
		return err
	}
	pass.Warning(v1alpha1.ReasonTagsLeft, "Release", "%s stays, but Portico's tags could not be removed from it: %v",
		nameOf(status), err)
	return nil
}

// disown removes our tags, and reports whether there were any.
func (rec Reconciler[T, S]) disown(ctx context.Context, obj T) (bool, error) {
	c, err := rec.Connect(ctx, obj)
	if err != nil {
		return false, err
	}
	a := c.Adapter
	seen, err := a.Observe(ctx, obj)
	if err != nil {
		return false, err
	}
	_, status := obj.AWS()
	ours := seen != nil && a.Owner(obj, seen) == Ours
	if young := rec.recentlyChanged(status); !ours && young && (seen != nil || !rec.isAbsent(a, status)) {
		return false, engine.Wait(v1alpha1.ReasonSettling, rec.pollInterval(),
			"%s does not show this object's ownership tags; it was created or changed a short time ago, so the "+
				"deletion waits until it surely would", nameOf(status))
	}
	if !ours {
		return false, nil
	}
	return true, a.Disown(ctx, obj, seen)
}

// guarded is an object whose spec can protect its resource against deletion. The spec counts, not AWS: somebody may
// have switched the protection off there.
type guarded interface{ ProtectedBy() string }

// delete deletes the resource and confirms that it is gone. Only a resource with the tags of exactly this object is
// deleted: one of an earlier object was never adopted, so it is not this object's to remove.
func (rec Reconciler[T, S]) delete(ctx context.Context, obj T, pass *engine.Pass) error { //nolint:gocognit // two looks at one deletion
	_, status := obj.AWS()
	c, err := rec.Connect(ctx, obj)
	if err != nil {
		return err
	}
	a, confirmed := c.Adapter, false
	for range 2 {
		seen, err := a.Observe(ctx, obj)
		if err != nil || (seen == nil && confirmed) {
			return err
		}
		if ours, err := rec.isOurs(a, obj, seen); !ours {
			return leaveAlone(pass, seen != nil, err)
		}
		if err := protected(obj); err != nil && !isDeleting(a, seen) {
			return err
		}
		confirmed, err = a.Delete(ctx, obj, seen)
		if _, waits := engine.AsWait(err); !confirmed && !waits && !isDeleting(a, seen) {
			// The deletion was or may have been requested: the resource may be invisible and still exist.
			setLastSync(status, rec.Now())
		}
		if err != nil {
			return err
		}
	}
	return engine.Wait(v1alpha1.ReasonDeleting, 5*time.Second, "deletion of %s was accepted; waiting until it is gone",
		nameOf(status))
}

// protected returns an error if a field of the spec forbids the deletion.
func protected(obj Object) error {
	spec, ok := any(obj).(guarded)
	if !ok || spec.ProtectedBy() == "" {
		return nil
	}
	_, status := obj.AWS()
	return engine.Blocked(v1alpha1.ReasonDeletionProtected, "%s: true protects %s against deletion, even if AWS does "+
		"not any more; nothing was deleted. Set %[1]s: false to have it deleted, or spec.deletionPolicy to Retain or "+
		"Orphan to keep it",
		spec.ProtectedBy(), nameOf(status))
}

// leaveAlone returns err, and sends a warning if a resource exists that is not the object's.
func leaveAlone(pass *engine.Pass, there bool, err error) error {
	if err == nil && there {
		pass.Warning(v1alpha1.ReasonNotOurs, "Release", "the resource does not carry this object's ownership tags "+
			"and was left alone")
	}
	return err
}

// isDeleting reports whether AWS shows that it deletes the resource.
func isDeleting[T Object, S any](a Adapter[T, S], seen *S) bool {
	observer, ok := a.(DeletionObserver[S])
	return ok && observer.Deleting(seen)
}

// isOurs reports whether obj has something to release. A resource that is not visible, or without our tags, may have
// just been created: that is waited for.
func (rec Reconciler[T, S]) isOurs(a Adapter[T, S], obj T, seen *S) (bool, error) {
	_, status := obj.AWS()
	switch {
	case seen == nil && rec.isAbsent(a, status):
		return false, nil
	case seen == nil:
		return false, engine.Wait(v1alpha1.ReasonSettling, rec.pollInterval(),
			"%s does not show; it was created or changed a short time ago, so deletion waits until it surely would",
			nameOf(status))
	case a.Owner(obj, seen) != Ours && rec.recentlyChanged(status): // outdated tags, or none yet
		return false, engine.Wait(v1alpha1.ReasonSettling, rec.pollInterval(),
			"%s does not show this object's ownership tags; it was created or changed a short time ago, so deletion "+
				"waits until it surely would", nameOf(status))
	}
	lost := rec.lostTags(a, obj, seen)
	if lost != nil && isDeleting(a, seen) {
		return false, engine.Wait(v1alpha1.ReasonDeleting, 5*time.Second,
			"AWS is deleting %s; waiting until it is gone", nameOf(status))
	}
	return a.Owner(obj, seen) == Ours, lost
}

// stop stops the resource and keeps it, with its tags. A foreign or absent resource needs no stopping.
func (rec Reconciler[T, S]) stop(ctx context.Context, obj T, pass *engine.Pass) error {
	_, status := obj.AWS()
	c, err := rec.Connect(ctx, obj)
	if err != nil {
		return err
	}
	a := c.Adapter
	stopper, ok := a.(Stopper[T, S])
	if !ok {
		return engine.Blocked(v1alpha1.ReasonInvalidSpec, "a resource of this kind cannot be stopped; choose another "+
			"deletionPolicy")
	}
	seen, err := a.Observe(ctx, obj)
	if err != nil {
		return err
	}
	if ours, err := rec.isOurs(a, obj, seen); !ours {
		if err == nil {
			pass.Warning(v1alpha1.ReasonNotOurs, "Release", "%s is gone, or does not carry this object's ownership "+
				"tags: nothing was stopped", nameOf(status))
		}
		return err
	}
	stopped, err := stopper.Stop(ctx, obj, seen)
	if err != nil {
		return err
	}
	if !stopped {
		return engine.Wait(v1alpha1.ReasonStopping, 5*time.Second, "the stop was accepted; waiting until %s "+
			"stands still", nameOf(status))
	}
	if err := rec.waitUntilFound(status); err != nil {
		return err
	}
	pass.Normal(v1alpha1.ReasonStopped, "Release", "%s is stopped and stays, with its ownership tags", nameOf(status))
	return nil
}

func nameOf(status *v1alpha1.AWSStatus) string {
	if status.ARN == "" {
		return "the resource, if there is one,"
	}
	return status.ARN
}

func setLastSync(status *v1alpha1.AWSStatus, now time.Time) {
	status.LastSyncTime = &metav1.Time{Time: now}
}
