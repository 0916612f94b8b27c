package external

import (
	"fmt"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// absent decides what it means that nothing is there.
func (p *pass[T, S]) absent() error {
	_, status := p.obj.AWS()
	if len(p.done) > 0 {
		return engine.Wait("Creating", 2*time.Second, "%s was accepted; waiting until the resource shows", p.last)
	}
	if status.ARN == "" {
		return nil
	}
	if !p.Stateful {
		p.lost, status.ARN = true, "" // saved before the creation: what is made anew is waited for like anything new
		return nil
	}
	if !p.certain(p.Adapter, status) {
		return engine.Wait("Settling", p.again(), "%s does not show; it was made or changed a short time ago, so that may pass", status.ARN)
	}
	next := fmt.Sprint(status.Recreations + 1)
	if p.obj.GetAnnotations()[v1alpha1.AnnotationAcknowledgeRecreate] == next {
		p.run.Normal("RecreateAcknowledged", "Recreate", "%s is gone; a new, empty one takes its place as acknowledged", status.ARN)
		status.Recreations++
		status.ARN = "" // saved before the creation
		return nil
	}
	return engine.Blocked("ExternallyDeleted",
		"%s was deleted outside Portico, and its content with it. To get a new, empty one set the annotation %s=%s on this object; to give it up delete this object",
		status.ARN, v1alpha1.AnnotationAcknowledgeRecreate, next)
}

// again is when to look again for what should show soon.
func (w Work[T, S]) again() time.Duration { return min(10*time.Second, max(w.Settling, time.Second)) }

// fresh tells whether the last change is so young that AWS may not show it everywhere. Of what was never seen, the time
// may be that of the note before its creation.
func (w Work[T, S]) fresh(status *v1alpha1.AWSStatus) bool {
	window := w.Settling
	if status.ARN == "" {
		window += w.Longest
	}
	return status.LastSyncTime != nil && w.Now().Sub(status.LastSyncTime.Time) < window
}

// certain tells whether what the latest Observe did not return is not there, rather than not shown yet.
func (w Work[T, S]) certain(a Adapter[T, S], status *v1alpha1.AWSStatus) bool {
	if e, ok := a.(Ender); ok && e.Ended() {
		return true
	}
	return !w.fresh(status)
}

// mayBeOurs tells whether a foreign resource may be one that we made a moment ago: AWS shows the marks later than the
// resource.
func (w Work[T, S]) mayBeOurs(owner Owner, status *v1alpha1.AWSStatus) bool {
	return owner == Foreign && w.fresh(status)
}

// admit lets pass only what is ours, was ours, or is offered to us and wanted.
func (p *pass[T, S]) admit(seen *S) error {
	spec, status := p.obj.AWS()
	owner := p.Adapter.Owner(p.obj, seen)
	if owner == Foreign && len(p.done) > 0 {
		return p.unsettled(p.last) // made with our marks a moment ago
	}
	if p.mayBeOurs(owner, status) {
		return engine.Wait("Settling", p.again(), "the resource does not show this object's ownership tags; it was made or changed a short time ago, so that may pass")
	}
	switch owner {
	case Ours, Earlier:
		return nil
	case Offered:
		if spec.AdoptionPolicy == v1alpha1.AdoptionAdopt {
			return nil
		}
		return engine.Blocked("AlreadyExists",
			"a resource of this name exists and is offered to this object by its portico.dev/adopt tag; set spec.adoptionPolicy to Adopt to take it")
	default:
	}
	return engine.Blocked("AlreadyExists",
		"a resource of this name exists and does not belong to this object; nothing was changed. Delete this object and request another name, or adopt it: set spec.adoptionPolicy to Adopt and ask somebody with access to AWS to tag it portico.dev/adopt=%s/%s",
		p.obj.GetNamespace(), p.obj.GetName())
}
