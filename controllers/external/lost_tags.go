package external

import (
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// lostTags returns an error for a resource that was obj's and has lost its tags; else nil. Tools that replace all tags
// remove them, and so does somebody who gives the resource to others: Portico does not restore them.
func (rec Reconciler[T, S]) lostTags(a Adapter[T, S], obj T, seen *S) error {
	_, status := obj.AWS()
	// A resource that was only observed has an ARN, too, but no change of ours.
	had := status.ARN != "" && status.LastSyncTime != nil
	restorer, ok := a.(TagRestorer[T, S])
	if !ok || !had || a.Owner(obj, seen) != Foreign {
		return nil
	}
	command := restorer.RestoreCommand(obj, seen)
	if command == "" {
		return nil
	}
	if obj.GetDeletionTimestamp().IsZero() {
		return engine.Blocked(v1alpha1.ReasonOwnershipTagsLost,
			"%s carries no ownership tags of this object any more, as after a script that replaces all tags; Portico "+
				"changes nothing there. If it still is this object's, ask somebody with access to the account %s to "+
				"restore them: %s",
			status.ARN, status.AccountID, command)
	}
	return engine.Blocked(v1alpha1.ReasonOwnershipTagsLost,
		"%s carries no ownership tags of this object any more, as after a script that replaces all tags; nothing was "+
			"deleted or stopped. To stop managing it as it is, set spec.deletionPolicy to Retain or Orphan. If it "+
			"still is this object's, ask somebody with access to the account %s to restore them, and the deletion "+
			"goes on: %s",
		status.ARN, status.AccountID, command)
}
