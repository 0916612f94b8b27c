package rds

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// create plans the call that creates the instance, with its settings and tags.
func (i *instance) create(obj *v1alpha1.RDSInstance) external.Action {
	if obj.Spec.RestoreFrom != nil {
		return i.restore(obj)
	}
	return external.Action{
		Name: "CreateDBInstance", Why: obj.Spec.Engine + " database " + i.identifier(obj) + " in " +
			i.session.Config.Region,
		Changes:    external.InitialChanges(i.Declared(obj)),
		References: references(&obj.Spec),
		Do: func(ctx context.Context) error {
			in := i.createInput(obj)
			if obj.Spec.ManageMasterUserPassword {
				in.ManageMasterUserPassword, in.MasterUserSecretKmsKeyId = aws.Bool(true),
					external.NonEmpty(obj.Spec.MasterUserSecretKmsKeyID)
				_, err := i.svc.CreateDBInstance(ctx, in)
				if err == nil {
					obj.Status.PasswordRotation = rotationOf(obj)
				}
				return ignoreExists(err)
			}
			password, err := i.nextPassword(ctx, obj, false)
			if err != nil {
				return err
			}
			in.MasterUserPassword = &password
			out, err := i.svc.CreateDBInstance(ctx, in)
			if err != nil {
				return withoutPassword(ignoreExists(err), password)
			}
			resource := ""
			if out.DBInstance != nil {
				resource = aws.ToString(out.DBInstance.DbiResourceId)
			}
			return i.confirmPassword(ctx, obj, resource)
		},
	}
}

// references returns what a new instance will refer to.
func references(s *v1alpha1.RDSInstanceSpec) []external.Reference {
	return append(reference.Added(reference.SecurityGroup, nil, s.VPCSecurityGroupIDs),
		external.Reference{Kind: reference.SubnetGroup, Name: s.DBSubnetGroupName},
		external.Reference{Kind: reference.ParameterGroup, Name: s.DBParameterGroupName},
		external.Reference{Kind: reference.KMSKey, Name: s.KMSKeyID},
		external.Reference{Kind: reference.KMSKey, Name: s.MasterUserSecretKmsKeyID})
}

// ignoreExists returns nil if the instance exists: it was created in the meantime, or by an earlier try. The next pass
// reads its owner, and the record has its password.
func ignoreExists(err error) error {
	if cloud.HasCode(err, "DBInstanceAlreadyExists") {
		return nil
	}
	return explain(err)
}

// noExtendedSupport limits an engine version to its standard support. RDS's default costs money when that ends.
const noExtendedSupport = "open-source-rds-extended-support-disabled"

// desiredSettings returns the settings of a new instance, as the input of a change.
func desiredSettings(obj *v1alpha1.RDSInstance) *input {
	in := &input{}
	for _, s := range settings {
		if value, declared := s.Want(obj); declared {
			s.set(in, value, nil)
		}
	}
	if in.PubliclyAccessible == nil {
		in.PubliclyAccessible = aws.Bool(false) // RDS's default may be a public address
	}
	if in.EngineLifecycleSupport == nil && hasExtendedSupport(obj.Spec.Engine) {
		in.EngineLifecycleSupport = aws.String(noExtendedSupport)
	}
	return in
}

// hasExtendedSupport reports whether RDS offers it for the engine; for all others RDS does not accept the setting.
func hasExtendedSupport(engine string) bool { return engine == "mysql" || engine == "postgres" }

func (i *instance) createInput(obj *v1alpha1.RDSInstance) *rds.CreateDBInstanceInput {
	s, w := &obj.Spec, desiredSettings(obj)
	encrypted := true
	if s.StorageEncrypted != nil {
		encrypted = *s.StorageEncrypted
	}
	return &rds.CreateDBInstanceInput{
		DBInstanceIdentifier: aws.String(i.identifier(obj)),
		Engine:               &s.Engine, EngineVersion: external.NonEmpty(s.EngineVersion),
		AutoMinorVersionUpgrade: w.AutoMinorVersionUpgrade,
		EngineLifecycleSupport:  w.EngineLifecycleSupport, LicenseModel: w.LicenseModel,
		DBInstanceClass: w.DBInstanceClass, MasterUsername: &s.MasterUsername, DBName: external.NonEmpty(s.DBName),
		Port:             w.DBPortNumber,
		AllocatedStorage: w.AllocatedStorage, MaxAllocatedStorage: w.MaxAllocatedStorage,
		StorageType: w.StorageType, Iops: w.Iops, StorageThroughput: w.StorageThroughput,
		StorageEncrypted: &encrypted, KmsKeyId: external.NonEmpty(s.KMSKeyID),
		MultiAZ: w.MultiAZ, PubliclyAccessible: w.PubliclyAccessible,
		DBSubnetGroupName: external.NonEmpty(s.DBSubnetGroupName), VpcSecurityGroupIds: w.VpcSecurityGroupIds,
		DBParameterGroupName:  w.DBParameterGroupName,
		BackupRetentionPeriod: w.BackupRetentionPeriod, PreferredBackupWindow: w.PreferredBackupWindow,
		PreferredMaintenanceWindow: w.PreferredMaintenanceWindow,
		EnablePerformanceInsights:  w.EnablePerformanceInsights, EnableCloudwatchLogsExports: enabledLogs(w),
		DeletionProtection: w.DeletionProtection, CopyTagsToSnapshot: aws.Bool(true), Tags: i.tagsOf(obj),
	}
}

func enabledLogs(w *input) []string {
	if w.CloudwatchLogsExportConfiguration == nil {
		return nil
	}
	return w.CloudwatchLogsExportConfiguration.EnableLogTypes
}

func (i *instance) tagsOf(obj *v1alpha1.RDSInstance) []rdstypes.Tag {
	return tagList(i.session.Tags(obj, obj.Spec.Tags))
}
