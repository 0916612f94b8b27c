package rds

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/smithy-go"

	apirds "github.com/portico-platform/portico/api/rds"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// unsaveable are the states in which RDS takes no final snapshot.
var unsaveable = []string{
	"failed", "incompatible-create", "incompatible-network", "incompatible-restore", "restore-error",
	"insufficient-capacity",
	"inaccessible-encryption-credentials",
}

// Delete deletes the instance, after a final snapshot unless the spec skips it.
func (i *instance) Delete(ctx context.Context, obj *v1alpha1.RDSInstance, seen *instanceState) (bool, error) {
	err := i.remove(ctx, obj, seen)
	if cloud.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// Deleting implements external.DeletionObserver.
func (i *instance) Deleting(seen *instanceState) bool { return seen.status() == statusDeleting }

func (i *instance) remove(ctx context.Context, obj *v1alpha1.RDSInstance, seen *instanceState) error {
	switch status := seen.status(); {
	case status == statusDeleting:
		return engine.Wait(v1alpha1.ReasonDeleting, modifyingPoll, "RDS is deleting the database; %s",
			snapshotNote(obj))
	case status == statusCreating:
		return engine.Wait(v1alpha1.ReasonCreating, creatingPoll, "RDS is still creating the database; it is deleted "+
			"when it is complete")
	case slices.Contains(unsaveable, status) && !obj.Spec.SkipFinalSnapshot:
		return engine.Blocked(v1alpha1.ReasonFinalSnapshotImpossible, "RDS shows the state %s, in which it takes no "+
			"final snapshot; nothing was deleted. Set skipFinalSnapshot: true to delete the database with its data",
			status)
	}
	if err := i.prepare(ctx, obj, seen); err != nil {
		return err
	}
	in := &rds.DeleteDBInstanceInput{
		DBInstanceIdentifier: aws.String(seen.identifier()), SkipFinalSnapshot: aws.Bool(obj.Spec.SkipFinalSnapshot),
		DeleteAutomatedBackups: obj.Spec.DeleteAutomatedBackups,
	}
	before := obj.Status.FinalSnapshotIdentifier
	obj.Status.FinalSnapshotIdentifier = ""
	if !obj.Spec.SkipFinalSnapshot {
		in.FinalDBSnapshotIdentifier = aws.String(
			apirds.FinalSnapshotName(obj.Spec.FinalSnapshotIdentifier, seen.identifier(), obj.UID))
		obj.Status.FinalSnapshotIdentifier = *in.FinalDBSnapshotIdentifier
	}
	_, err := i.svc.DeleteDBInstance(ctx, in)
	_, refused := errors.AsType[smithy.APIError](err)
	switch {
	case refused && isInvalidState(err):
		obj.Status.FinalSnapshotIdentifier = before // an earlier call without a response may be in progress
	case refused:
		obj.Status.FinalSnapshotIdentifier = "" // without a response the deletion may have begun
	}
	if cloud.HasCode(err, "DBSnapshotAlreadyExists") {
		return engine.Blocked(v1alpha1.ReasonFinalSnapshotExists, "a snapshot named %s exists already; nothing was "+
			"deleted. Set finalSnapshotIdentifier to another name, or delete that snapshot in AWS",
			*in.FinalDBSnapshotIdentifier)
	}
	return explain(err)
}

func isInvalidState(err error) bool {
	return cloud.HasCode(err, "InvalidDBInstanceState") || cloud.HasCode(err, "InvalidDBInstanceStateFault")
}

// prepare switches deletion protection off, but only if the owner says so, and makes the final snapshot inherit the
// tags, with which it can be restored. RDS applies both at once, whatever waits for the maintenance window.
func (i *instance) prepare(ctx context.Context, obj *v1alpha1.RDSInstance, seen *instanceState) error {
	in := &input{DBInstanceIdentifier: aws.String(seen.identifier())}
	protected := aws.ToBool(seen.db.DeletionProtection)
	if p := obj.Spec.DeletionProtection; protected && (p == nil || *p) {
		return engine.Blocked(v1alpha1.ReasonDeletionProtected, "the database is protected against deletion; nothing "+
			"was deleted. Set deletionProtection: false to have it deleted")
	}
	if protected {
		in.DeletionProtection = aws.Bool(false)
	}
	tagged := obj.Spec.SkipFinalSnapshot || aws.ToBool(seen.db.CopyTagsToSnapshot)
	if !tagged {
		in.CopyTagsToSnapshot = aws.Bool(true)
	}
	if !protected && tagged {
		return nil
	}
	if seen.status() == "stopped" {
		return engine.Blocked(v1alpha1.ReasonStopped, "the database was stopped outside Portico, and RDS changes "+
			"nothing of a stopped one: its deletion protection or the tags of its snapshots must change first; "+
			"nothing was deleted. Start it in AWS")
	}
	_, err := i.svc.ModifyDBInstance(ctx, in)
	return explain(err)
}

func snapshotNote(obj *v1alpha1.RDSInstance) string {
	switch {
	case obj.Status.FinalSnapshotIdentifier != "":
		return "its data is kept in the final snapshot " + obj.Status.FinalSnapshotIdentifier
	case obj.Spec.SkipFinalSnapshot:
		return "its data is not kept"
	}
	return "somebody began that outside Portico, which knows of no final snapshot"
}
