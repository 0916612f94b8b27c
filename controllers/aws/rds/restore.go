package rds

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// restore plans the call that creates the instance from a snapshot. Settings that the call does not accept are changed
// afterwards, including the password.
func (i *instance) restore(obj *v1alpha1.RDSInstance) external.Action {
	from := obj.Spec.RestoreFrom.SnapshotIdentifier
	return external.Action{
		Name: "RestoreDBInstanceFromDBSnapshot",
		Why: obj.Spec.Engine + " database " + i.identifier(obj) + " in " + i.session.Config.Region +
			" from the snapshot " + from,
		Changes:    external.InitialChanges(i.session.TagPaths(obj, obj.Spec.Tags)),
		References: references(&obj.Spec),
		Do: func(ctx context.Context) error {
			if err := i.admitSnapshot(ctx, obj, from); err != nil {
				return err
			}
			if err := i.invalidatePassword(ctx, obj); err != nil {
				return err
			}
			_, err := i.svc.RestoreDBInstanceFromDBSnapshot(ctx, i.restoreInput(obj, from))
			if err == nil && (managedFromTheStart(obj) || !obj.Spec.ManageMasterUserPassword) {
				// else the request is done when RDS takes over the password
				obj.Status.PasswordRotation = rotationOf(obj)
			}
			return ignoreExists(err)
		},
	}
}

func (i *instance) restoreInput(obj *v1alpha1.RDSInstance, from string) *rds.RestoreDBInstanceFromDBSnapshotInput {
	s, w := &obj.Spec, desiredSettings(obj)
	in := &rds.RestoreDBInstanceFromDBSnapshotInput{
		DBInstanceIdentifier: aws.String(i.identifier(obj)), DBSnapshotIdentifier: &from,
		DBInstanceClass: w.DBInstanceClass, Port: w.DBPortNumber, MultiAZ: w.MultiAZ,
		PubliclyAccessible: w.PubliclyAccessible,
		DBSubnetGroupName:  external.NonEmpty(s.DBSubnetGroupName), VpcSecurityGroupIds: w.VpcSecurityGroupIds,
		DBParameterGroupName:    w.DBParameterGroupName,
		AutoMinorVersionUpgrade: w.AutoMinorVersionUpgrade, DeletionProtection: w.DeletionProtection,
		EngineLifecycleSupport:      w.EngineLifecycleSupport,
		LicenseModel:                w.LicenseModel,
		EnableCloudwatchLogsExports: enabledLogs(w), CopyTagsToSnapshot: aws.Bool(true), Tags: i.tagsOf(obj),
	}
	if managedFromTheStart(obj) {
		in.ManageMasterUserPassword, in.MasterUserSecretKmsKeyId = aws.Bool(true),
			external.NonEmpty(s.MasterUserSecretKmsKeyID)
	}
	return in
}

// managedFromTheStart reports whether RDS manages the password of a restored database from the start, which it accepts
// only for Oracle. For other engines RDS takes over the password when the database is complete.
func managedFromTheStart(obj *v1alpha1.RDSInstance) bool {
	return obj.Spec.ManageMasterUserPassword && family(obj.Spec.Engine) == "oracle"
}

// admitSnapshot returns an error unless the snapshot belongs to this namespace: the account also holds others' data.
func (i *instance) admitSnapshot(ctx context.Context, obj *v1alpha1.RDSInstance, from string) error {
	out, err := i.svc.DescribeDBSnapshots(ctx, &rds.DescribeDBSnapshotsInput{DBSnapshotIdentifier: &from})
	if cloud.HasCode(err, "DBSnapshotNotFound") || cloud.HasCode(err, "DBSnapshotNotFoundFault") ||
		(err == nil && len(out.DBSnapshots) == 0) {
		return reference.RefuseSnapshot(obj, from)
	}
	if err != nil {
		return explain(err)
	}
	snapshot := &out.DBSnapshots[0]
	tags := tagMap(snapshot.TagList)
	if snapshot.TagList == nil {
		if tags, err = i.svc.readTags(ctx, snapshot.DBSnapshotArn); err != nil {
			return err
		}
	}
	switch status := aws.ToString(snapshot.Status); {
	case !i.session.Identity.SharedWith(obj, tags):
		return reference.RefuseSnapshot(obj, from)
	case aws.ToString(snapshot.Engine) != obj.Spec.Engine:
		return engine.Blocked(v1alpha1.ReasonSnapshotMismatch, "the snapshot %s is of %s, not of %s; nothing was "+
			"created. Delete this object and request one with the engine of the snapshot", from,
			aws.ToString(snapshot.Engine), obj.Spec.Engine)
	case status == statusCreating:
		return engine.Wait(v1alpha1.ReasonSnapshotCreating, 30*time.Second, "the snapshot %s is still being made; it "+
			"is restored when it is complete", from)
	case !aws.ToBool(snapshot.Encrypted):
		return i.admitUnencrypted(from)
	}
	return nil
}

// admitUnencrypted returns an error for restoring an unencrypted snapshot if a guardrail requires encryption.
func (i *instance) admitUnencrypted(snapshot string) error {
	for _, rule := range i.session.Guardrails() {
		if rule.RequireEncryption {
			return cloud.NotAllowed("restoring the snapshot "+snapshot+" without encryption", "requireEncryption",
				rule.By, "encrypted databases only")
		}
	}
	return nil
}
