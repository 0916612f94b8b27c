package external

import (
	"fmt"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// handleAbsence decides what to do when Observe found nothing: wait, create, or ask for an acknowledgement.
func (r *reconciliation[T, S]) handleAbsence() error {
	_, status := r.obj.AWS()
	if len(r.taken) > 0 {
		return engine.Wait(v1alpha1.ReasonCreating, 2*time.Second, "%s was accepted; waiting until the resource shows", r.last())
	}
	if status.ARN == "" {
		return nil
	}
	if !r.Stateful {
		r.recreating, status.ARN = true, "" // saved before the creation: the new one is waited for like any other
		return nil
	}
	if !r.isAbsent(r.Adapter, status) {
		return engine.Wait(v1alpha1.ReasonSettling, r.pollInterval(), "%s does not show; it was made or changed a short time ago, so that may pass", status.ARN)
	}
	next := fmt.Sprint(status.Recreations + 1)
	if r.obj.GetAnnotations()[v1alpha1.AnnotationAcknowledgeRecreate] == next {
		r.pass.Normal("RecreateAcknowledged", "Recreate", "%s is gone; a new, empty one takes its place as acknowledged", status.ARN)
		status.Recreations++
		status.ARN = "" // saved before the creation
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonExternallyDeleted,
		"%s was deleted outside Portico, and its content with it. To get a new, empty one set the annotation %s=%s on this object; to give it up delete this object",
		status.ARN, v1alpha1.AnnotationAcknowledgeRecreate, next)
}

// pollInterval returns when to look again for what should show soon.
func (rec Reconciler[T, S]) pollInterval() time.Duration {
	return min(10*time.Second, max(rec.Settling, time.Second))
}

// recentlyChanged reports whether the last change is so young that AWS may not show it everywhere. Of what was never seen, the time
// may be that of the note before its creation.
func (rec Reconciler[T, S]) recentlyChanged(status *v1alpha1.AWSStatus) bool {
	window := rec.Settling
	if status.ARN == "" {
		window += rec.MaxDuration
	}
	return status.LastSyncTime != nil && rec.Now().Sub(status.LastSyncTime.Time) < window
}

// isAbsent reports whether what the latest Observe did not return is not there, rather than not shown yet.
func (rec Reconciler[T, S]) isAbsent(a Adapter[T, S], status *v1alpha1.AWSStatus) bool {
	if e, ok := a.(TerminationObserver); ok && e.Terminated() {
		return true
	}
	return !rec.recentlyChanged(status)
}

// mayBeOurs reports whether a foreign resource may be one that we made a moment ago: AWS shows the marks later than the
// resource.
func (rec Reconciler[T, S]) mayBeOurs(owner Owner, status *v1alpha1.AWSStatus) bool {
	return owner == Foreign && rec.recentlyChanged(status)
}

// checkOwner returns an error unless the resource is ours, was ours, or is offered to us and wanted.
func (r *reconciliation[T, S]) checkOwner(seen *S) error {
	spec, status := r.obj.AWS()
	owner := r.Adapter.Owner(r.obj, seen)
	if owner == Foreign && len(r.taken) > 0 {
		return r.waitUntilVisible(r.last()) // made with our marks a moment ago
	}
	if r.mayBeOurs(owner, status) {
		return engine.Wait(v1alpha1.ReasonSettling, r.pollInterval(), "the resource does not show this object's ownership tags; it was made or changed a short time ago, so that may pass")
	}
	switch owner {
	case Ours, Earlier:
		return nil
	case Offered:
		if spec.AdoptionPolicy == v1alpha1.AdoptionAdopt {
			return nil
		}
		return engine.Blocked(v1alpha1.ReasonAlreadyExists,
			"a resource of this name exists and is offered to this object by its portico.dev/adopt tag; set spec.adoptionPolicy to Adopt to take it")
	default:
	}
	return engine.Blocked(v1alpha1.ReasonAlreadyExists,
		"a resource of this name exists and does not belong to this object; nothing was changed. Delete this object and request another name, or adopt it: set spec.adoptionPolicy to Adopt and ask somebody with access to AWS to tag it portico.dev/adopt=%s/%s",
		r.obj.GetNamespace(), r.obj.GetName())
}
