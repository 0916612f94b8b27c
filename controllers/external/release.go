package external

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Release implements engine.Work: what becomes of the resource is the deletion policy's to say.
func (w Work[T, S]) Release(ctx context.Context, obj T, run *engine.Pass) error {
	spec, status := obj.AWS()
	if spec.ManagementPolicy == v1alpha1.ManagementObserve {
		return nil
	}
	if status.AccountID == "" {
		return nil // nothing was ever reserved, let alone created: see Adapter.Reserve
	}
	switch obj.Policy() {
	case v1alpha1.DeletionRetain:
		run.Normal("Retained", "Release", "%s stays, with its ownership tags", name(status))
		return nil
	case v1alpha1.DeletionOrphan:
		return w.orphan(ctx, obj, run)
	case v1alpha1.DeletionStop:
		return w.stop(ctx, obj, run)
	default:
		return w.remove(ctx, obj, run)
	}
}

// patience is how long an account that does not answer may hold up a policy that deletes nothing.
const patience = time.Minute

// orphan lets go of the resource. It succeeds even if the account cannot be reached: the policy promises that nothing
// is deleted, and a tag left behind harms nobody.
func (w Work[T, S]) orphan(ctx context.Context, obj T, run *engine.Pass) error {
	_, status := obj.AWS()
	freed, err := w.disown(ctx, obj)
	if err == nil && freed {
		run.Normal("Orphaned", "Release", "%s stays, without Portico's tags", name(status))
	}
	if err == nil {
		return nil
	}
	if pause, ok := engine.AsPause(err); (!ok || !pause.Stalled) && w.Now().Sub(obj.GetDeletionTimestamp().Time) < patience {
		return err
	}
	run.Warning("TagsLeft", "Release", "%s stays, but Portico's tags could not be removed from it: %v", name(status), err)
	return nil
}

// disown tells whether there were marks of ours to remove.
func (w Work[T, S]) disown(ctx context.Context, obj T) (bool, error) {
	c, err := w.Connect(ctx, obj)
	if err != nil {
		return false, err
	}
	a := c.Adapter
	seen, err := a.Observe(ctx, obj)
	if err != nil || seen == nil || a.Owner(obj, seen) != Ours {
		return false, err
	}
	return true, a.Disown(ctx, obj, seen)
}

// remove deletes the resource and confirms that it is gone. Only one that carries the marks of exactly this object is
// deleted: one of an earlier life was never taken back, so it is not this object's to remove.
func (w Work[T, S]) remove(ctx context.Context, obj T, run *engine.Pass) error {
	_, status := obj.AWS()
	c, err := w.Connect(ctx, obj)
	if err != nil {
		return err
	}
	a, confirmed := c.Adapter, false
	for range 2 {
		seen, err := a.Observe(ctx, obj)
		if err != nil || (seen == nil && confirmed) {
			return err
		}
		if ours, err := w.ours(a, obj, seen); !ours {
			if err == nil && seen != nil {
				run.Warning("NotOurs", "Release", "the resource does not carry this object's ownership tags and was left alone")
			}
			return err
		}
		if confirmed, err = a.Delete(ctx, obj, seen); err != nil {
			return err
		}
	}
	return engine.Wait(v1alpha1.ReasonDeleting, 5*time.Second, "deletion of %s was accepted; waiting until it is gone", name(status))
}

// ours tells whether there is something of obj's to release. What does not show, or does not show our marks, may have
// been made a moment ago: that is waited for.
func (w Work[T, S]) ours(a Adapter[T, S], obj T, seen *S) (bool, error) {
	_, status := obj.AWS()
	switch {
	case seen == nil && w.certain(a, status):
		return false, nil
	case seen == nil:
		return false, engine.Wait("Settling", w.again(), "%s does not show; it was made or changed a short time ago, so deletion waits until it surely would", name(status))
	case w.mayBeOurs(a.Owner(obj, seen), status):
		return false, engine.Wait("Settling", w.again(), "%s does not show this object's ownership tags; it was made or changed a short time ago, so deletion waits until it surely would", name(status))
	}
	return a.Owner(obj, seen) == Ours, nil
}

// stop brings the resource to a stand and keeps it, with its tags. What is not ours, or is gone, needs no stopping.
func (w Work[T, S]) stop(ctx context.Context, obj T, run *engine.Pass) error {
	_, status := obj.AWS()
	c, err := w.Connect(ctx, obj)
	if err != nil {
		return err
	}
	a := c.Adapter
	stopper, ok := a.(Stopper[T, S])
	if !ok {
		return engine.Blocked("InvalidSpec", "a resource of this kind cannot be stopped; choose another deletionPolicy")
	}
	seen, err := a.Observe(ctx, obj)
	if err != nil {
		return err
	}
	if ours, err := w.ours(a, obj, seen); !ours {
		if err == nil {
			run.Warning("NotOurs", "Release", "%s is gone, or does not carry this object's ownership tags: nothing was stopped", name(status))
		}
		return err
	}
	stopped, err := stopper.Stop(ctx, obj, seen)
	if err != nil {
		return err
	}
	if !stopped {
		return engine.Wait("Stopping", 5*time.Second, "the stop was accepted; waiting until %s stands still", name(status))
	}
	run.Normal("Stopped", "Release", "%s is stopped and stays, with its ownership tags", name(status))
	return nil
}

func name(status *v1alpha1.AWSStatus) string {
	if status.ARN == "" {
		return "the resource, if there is one,"
	}
	return status.ARN
}

func stamp(status *v1alpha1.AWSStatus, now time.Time) {
	status.LastSyncTime = &metav1.Time{Time: now}
}
