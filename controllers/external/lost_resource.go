package external

import (
	"cmp"
	"fmt"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// handleAbsence decides what to do when Observe found nothing: wait, create, or require an acknowledgement.
func (r *reconciliation[T, S]) handleAbsence() error {
	_, status := r.obj.AWS()
	if len(r.taken) > 0 {
		return engine.Wait(v1alpha1.ReasonCreating, 2*time.Second, "%s was accepted; waiting until the resource shows",
			r.last())
	}
	if status.ARN == "" && (!r.Stateful || !wasKept(r.obj)) {
		return nil
	}
	if !r.Stateful {
		// This is saved before the creation: the new resource is waited for as usual.
		r.recreating, r.lostARN, status.ARN = true, status.ARN, ""
		return nil
	}
	if !r.isAbsent(r.Adapter, status) {
		return engine.Wait(v1alpha1.ReasonSettling, r.pollInterval(), "%s does not show; it was created or changed a "+
			"short time ago, so that may pass", lostName(status))
	}
	next := fmt.Sprint(status.Recreations + 1)
	if r.obj.GetAnnotations()[v1alpha1.AnnotationAcknowledgeRecreate] == next {
		r.pass.Normal(v1alpha1.ReasonRecreateAcknowledged, "Recreate", "%s is gone; a new, empty one takes its place "+
			"as acknowledged", lostName(status))
		status.Recreations++
		status.ARN = "" // saved before the creation
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonExternallyDeleted,
		"%s was deleted outside Portico, and its content with it. To get a new, empty one set the annotation %s=%s "+
			"on this object; to give it up delete this object",
		lostName(status), v1alpha1.AnnotationAcknowledgeRecreate, next)
}

// lostName returns the name of a lost resource for messages.
func lostName(status *v1alpha1.AWSStatus) string { return cmp.Or(status.ARN, "what was kept") }

// isAbsent reports whether the resource that Observe did not find is really gone, not just not visible yet.
func (rec Reconciler[T, S]) isAbsent(a Adapter[T, S], status *v1alpha1.AWSStatus) bool {
	if e, ok := a.(TerminationObserver); ok && e.Terminated() {
		return true
	}
	return !rec.recentlyChanged(status)
}

// recentlyChanged reports whether the last change is so recent that AWS may not show it everywhere. Times in a status
// have whole seconds, so the change may be up to a second later; for a resource never seen, the time may be that of the
// reservation before its creation.
func (rec Reconciler[T, S]) recentlyChanged(status *v1alpha1.AWSStatus) bool {
	window := rec.Settling + time.Second
	if status.ARN == "" {
		window += rec.MaxDuration
	}
	return status.LastSyncTime != nil && rec.Now().Sub(status.LastSyncTime.Time) < window
}

// correctLastSync sets a time in the future to now. A wrong clock, of another replica or ours, has written it; without
// this the change would count as recent until the clock catches up.
func (rec Reconciler[T, S]) correctLastSync(status *v1alpha1.AWSStatus) {
	if now := rec.Now(); status.LastSyncTime != nil && status.LastSyncTime.After(now) {
		setLastSync(status, now)
	}
}

// pollInterval returns how soon to check again for something that should soon be visible.
func (rec Reconciler[T, S]) pollInterval() time.Duration {
	return min(10*time.Second, max(rec.Settling, time.Second))
}
