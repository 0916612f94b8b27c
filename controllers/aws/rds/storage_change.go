package rds

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// storageCooldown is the minimum time for which RDS accepts no other change of a storage, even while it shows the
// instance as available: "Working with storage for Amazon RDS DB instances" in the User Guide. It is longer if RDS is
// still optimizing the storage then.
const storageCooldown = 6 * time.Hour

// Intervals for checking whether RDS has finished with the storage, and for trying the change again if that does not
// show.
const (
	optimizingPoll  = 5 * time.Minute
	optimizingRetry = 15 * time.Minute
)

// planStorage compares the settings of the storage. Their change is a call of its own, and the last one: RDS may refuse
// it for hours, and the other changes must not wait for that.
func (i *instance) planStorage(obj *v1alpha1.RDSInstance, seen *instanceState, now availability) (
	[]external.Action, error,
) {
	all, _ := differences(obj, seen, impatient(obj))
	_, changes := splitStorage(all)
	switch {
	case len(changes) == 0:
		return nil, nil
	case seen.status() == "storage-optimization":
		return nil, external.Postponed(waitForStorage(changes, optimizingPoll, cooldownEnd))
	case !now.modifiable:
		return nil, waitModifying(seen.status())
	}
	return external.PlanCall(changes, func(some []external.Change) external.Action {
		change := i.modify(obj, seen, some)
		send := change.Do
		change.Do = func(ctx context.Context) error {
			err := send(ctx)
			if err == nil {
				i.noteStorageChange(obj)
			}
			if wait, ok := engine.AsWait(err); ok && wait.Reason == v1alpha1.ReasonStorageOptimizing {
				return i.heldStorage(obj, seen, now, some)
			}
			return err
		}
		return change
	}), nil
}

// noteStorageChange records when RDS was asked to change the storage. If the change waits for the maintenance window,
// its time is unknown.
func (i *instance) noteStorageChange(obj *v1alpha1.RDSInstance) {
	obj.Status.StorageChangeTime = nil
	if obj.Spec.ApplyImmediately {
		obj.Status.StorageChangeTime = &metav1.Time{Time: i.now()}
	}
}

// heldStorage returns the error for a change of the storage that RDS does not accept yet. While the database works, the
// change can wait.
func (i *instance) heldStorage(obj *v1alpha1.RDSInstance, seen *instanceState, now availability,
	changes []external.Change,
) error {
	until := cooldownEnd
	if at := obj.Status.StorageChangeTime; at != nil && i.now().Before(at.Add(storageCooldown)) {
		until = at.Add(storageCooldown).UTC().Format("2006-01-02 15:04 UTC") + ", " + cooldownEnd
	}
	switch {
	case now.wait == nil:
		return external.Postponed(waitForStorage(changes, optimizingRetry, until))
	case seen.status() == statusStorageFull:
		return engine.Wait(v1alpha1.ReasonStorageFull, optimizingRetry,
			"the storage is full, and the database refuses to work. %s waits: AWS takes no further change of the "+
				"storage until %s. Portico sends it then by itself; who cannot wait restores the latest snapshot "+
				"into a new database with more storage", external.Describe(changes), until)
	}
	return now.wait
}

// cooldownEnd says when RDS accepts the next change of the storage, as far as that is known.
const cooldownEnd = "six hours after the last one, or longer if it is still optimizing the storage then"

func waitForStorage(changes []external.Change, poll time.Duration, until string) error {
	return engine.Wait(v1alpha1.ReasonStorageOptimizing, poll, "the database works. Only %s waits: AWS takes no "+
		"further change of the storage until %s. Portico sends it then by itself, and nothing has to be done",
		external.Describe(changes), until)
}

// refusesStorage reports whether RDS refused a call because of its last change of the storage. There is no error code
// for that, only the message: "You can't currently modify the storage of this DB instance because the previous storage
// change is being optimized."
func refusesStorage(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || !cloud.HasCode(err, "InvalidParameterCombination") {
		return false
	}
	text := strings.ToLower(api.ErrorMessage())
	return strings.Contains(text, "storage") && strings.Contains(text, "optimiz")
}
