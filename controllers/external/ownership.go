package external

import (
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// mayBeOurs reports whether a foreign resource may be one that we have just created: AWS shows the tags later than the
// resource.
func (rec Reconciler[T, S]) mayBeOurs(owner Owner, status *v1alpha1.AWSStatus) bool {
	return owner == Foreign && rec.recentlyChanged(status)
}

// checkOwner returns an error unless the resource is ours, was ours, or is offered to us and wanted.
func (r *reconciliation[T, S]) checkOwner(seen *S) error {
	spec, status := r.obj.AWS()
	owner := r.Adapter.Owner(r.obj, seen)
	if owner == Foreign && len(r.taken) > 0 {
		return waitUntilVisible(r.pollInterval(), r.last()) // created with our tags a moment ago
	}
	if r.mayBeOurs(owner, status) {
		return engine.Wait(v1alpha1.ReasonSettling, r.pollInterval(), "the resource does not show this object's "+
			"ownership tags; it was created or changed a short time ago, so that may pass")
	}
	switch owner {
	case Ours, Earlier:
		return nil
	case Offered:
		if spec.AdoptionPolicy == v1alpha1.AdoptionAdopt {
			return nil
		}
		return engine.Blocked(v1alpha1.ReasonAlreadyExists,
			"a resource of this name exists and is offered to this object by its portico.dev/adopt tag; set "+
				"spec.adoptionPolicy to Adopt to take it")
	default:
	}
	if err := r.lostTags(r.Adapter, r.obj, seen); err != nil {
		return err
	}
	instead := "Choose another name"
	if status.AccountID != "" { // it was about to be created when the other one appeared
		instead = "Delete this object and request another name"
	}
	adopt := "set spec.adoptionPolicy to Adopt and ask"
	if spec.AdoptionPolicy == v1alpha1.AdoptionAdopt {
		adopt = "ask"
	}
	return engine.Blocked(v1alpha1.ReasonAlreadyExists,
		"a resource of this name exists and does not belong to this object; nothing was changed. %s, or adopt it: %s "+
			"somebody with access to AWS to tag it portico.dev/adopt=%s/%s",
		instead, adopt, r.obj.GetNamespace(), r.obj.GetName())
}
