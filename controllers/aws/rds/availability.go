package rds

import (
	"strings"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// States that the code refers to by name; the User Guide lists all under "Viewing DB instance status".
const (
	statusCreating    = "creating"
	statusDeleting    = "deleting"
	statusStorageFull = "storage-full"
)

// availability says what an instance's state allows.
type availability struct {
	modifiable bool  // RDS accepts changes
	wait       error // nil: usable
}

// Poll intervals while RDS works.
const (
	creatingPoll  = 20 * time.Second
	modifyingPoll = 15 * time.Second
)

// brokenStates are the states in which somebody must act, with advice. The first one that is a prefix of the state
// counts.
var brokenStates = []struct {
	status, reason, advice string
	modify                 bool
}{
	{statusStorageFull, v1alpha1.ReasonStorageFull, "the storage is full, and the database refuses to work: raise allocatedStorage and set applyImmediately: true", true},
	{"stopped", v1alpha1.ReasonStopped, "the database was stopped outside Portico: start it in AWS; AWS itself starts it again after seven days", false},
	{"failed", v1alpha1.ReasonDatabaseFailed, "RDS cannot recover the database: restore a snapshot into a new one", false},
	{"incompatible-restore", v1alpha1.ReasonDatabaseFailed, "RDS could not restore the snapshot: delete this object and request a new one", false},
	{"restore-error", v1alpha1.ReasonDatabaseFailed, "RDS could not restore the snapshot: delete this object and request a new one", false},
	{"inaccessible-encryption-credentials", v1alpha1.ReasonKeyNotAccessible, "RDS cannot use the KMS key of the storage: make the key available to RDS again, and start the database in AWS", false},
	{"incompatible-parameters", v1alpha1.ReasonIncompatibleParameters, "the database does not start with its parameter group: correct the group, or set another dbParameterGroupName", true},
	{"incompatible-network", v1alpha1.ReasonIncompatibleNetwork, "RDS cannot place the database in its network: check the subnet group, its free addresses and the VPC's DNS", false},
	{"incompatible-option-group", v1alpha1.ReasonIncompatibleOptionGroup, "RDS cannot apply the option group: correct it in AWS", true},
	{"incompatible-credentials", v1alpha1.ReasonIncompatibleCredentials, "the master user name or password does not " +
		"fit: choose another password, or delete this object and request a new one with another masterUsername", true},
	{"incompatible-", v1alpha1.ReasonIncompatible, "RDS cannot run the database as it is: look at its events in AWS", false},
	{"insufficient-capacity", v1alpha1.ReasonInsufficientCapacity, "AWS has no capacity for this class now: choose another dbInstanceClass, or wait", false},
}

// availabilityOf returns what seen's state allows. Unknown states count as work in progress.
func availabilityOf(obj *v1alpha1.RDSInstance, seen *instanceState) availability {
	status := seen.status()
	switch status {
	case "available", "storage-optimization", "storage-config-upgrade", "storage-initialization":
		return availability{modifiable: true}
	case statusCreating:
		return availability{wait: engine.Wait(v1alpha1.ReasonCreating, creatingPoll, "RDS is creating the database; "+
			"that takes some minutes")}
	case statusDeleting:
		return availability{wait: engine.Wait(v1alpha1.ReasonDeletedOutside, modifyingPoll,
			"the database is being deleted, and not by Portico; nothing can be changed any more")}
	}
	for _, b := range brokenStates {
		if strings.HasPrefix(status, b.status) {
			return availability{
				modifiable: b.modify,
				wait:       engine.Blocked(b.reason, "RDS shows the state %s: %s", status, b.advice),
			}
		}
	}
	// The first backup follows the creation and is part of it.
	if obj.Status.FirstReadyTime != nil && (status == "backing-up" || strings.HasPrefix(status, "configuring-")) {
		return availability{}
	}
	return availability{wait: waitModifying(status)}
}

func waitModifying(status string) error {
	if status == "" {
		status = "unknown"
	}
	return engine.Wait(camel(status), modifyingPoll, "RDS shows the state %s; Portico goes on when that is over",
		status)
}

// camel turns backing-up into BackingUp.
func camel(status string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(status, "-") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}
