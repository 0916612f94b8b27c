package rds

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/smithy-go"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var errLost = errors.New("EOF")

func code(c string) error { return &smithy.GenericAPIError{Code: c, Message: c} }

// fakeRDS simulates one instance in RDS: some changes wait for the maintenance window and show as pending, an immediate
// change also applies all pending ones, a protected instance is not deleted, and a final snapshot is taken unless it is
// skipped.
type fakeRDS struct {
	db       *rdstypes.DBInstance
	tags     map[string]string
	password string
	license  string // RDS's choice

	relicensed int // changes of the license

	snapshots map[string]*rdstypes.DBSnapshot

	made     int // instances so far
	writes   int
	calls    []string
	modified *rds.ModifyDBInstanceInput // the last
	deleted  *rds.DeleteDBInstanceInput
	fail     error // of every read
	refuse   error // of every write, before it is done
	lose     bool  // the reply of every write
	absent   bool  // from responses to a filter
	deletes  bool  // deletion takes a while

	leaveOut   bool  // tags, from descriptions
	failTags   error // of reading tags
	optimizing bool  // the storage, though the instance is available
}

var errNoInstance = code("DBInstanceNotFound")

func (f *fakeRDS) write(call string, do func() error) error {
	f.calls = append(f.calls, call)
	if f.refuse != nil {
		return f.refuse
	}
	f.writes++
	if err := do(); err != nil {
		return err
	}
	if f.lose {
		return errLost
	}
	return nil
}

func (f *fakeRDS) is(identifier *string) bool {
	return f.db != nil && strings.EqualFold(aws.ToString(identifier), *f.db.DBInstanceIdentifier)
}

func (f *fakeRDS) DescribeDBInstances(_ context.Context, in *rds.DescribeDBInstancesInput, _ ...opt) (
	*rds.DescribeDBInstancesOutput, error,
) {
	f.calls = append(f.calls, "DescribeDBInstances")
	out := &rds.DescribeDBInstancesOutput{}
	if f.fail != nil {
		return nil, f.fail
	}
	if in.DBInstanceIdentifier != nil && !f.is(in.DBInstanceIdentifier) {
		return nil, errNoInstance
	}
	filtered := len(in.Filters) > 0 &&
		(f.absent || f.db == nil || !slices.Contains(in.Filters[0].Values, *f.db.DBInstanceIdentifier))
	if f.db == nil || filtered {
		return out, nil
	}
	db := *f.db
	if db.TagList = tagList(f.tags); f.leaveOut {
		db.TagList = nil
	}
	if p := f.db.PendingModifiedValues; p != nil {
		waiting := *p
		db.PendingModifiedValues = &waiting
	}
	out.DBInstances = []rdstypes.DBInstance{db}
	return out, nil
}

func (f *fakeRDS) CreateDBInstance(_ context.Context, in *rds.CreateDBInstanceInput, _ ...opt) (
	*rds.CreateDBInstanceOutput, error,
) {
	out := &rds.CreateDBInstanceOutput{}
	return out, f.write("CreateDBInstance", func() error {
		if f.db != nil {
			return code("DBInstanceAlreadyExists")
		}
		version := aws.ToString(in.EngineVersion)
		if version == "" || version == "16" {
			version = "16.3"
		}
		if hasExtendedSupport(*in.Engine) {
			in.EngineLifecycleSupport = or(in.EngineLifecycleSupport, "open-source-rds-extended-support")
		} else if in.EngineLifecycleSupport != nil {
			return code("InvalidParameterCombination")
		}
		f.tags, f.password = tagMap(in.Tags), aws.ToString(in.MasterUserPassword)
		f.db = &rdstypes.DBInstance{
			DBInstanceIdentifier: aws.String(strings.ToLower(*in.DBInstanceIdentifier)), Engine: in.Engine,
			EngineVersion: &version,
			DBInstanceArn: aws.String("arn:aws:rds:" + region + ":" + account + ":db:" +
				strings.ToLower(*in.DBInstanceIdentifier)),
			DBInstanceStatus: aws.String("available"), DBInstanceClass: in.DBInstanceClass,
			AllocatedStorage:    in.AllocatedStorage,
			MaxAllocatedStorage: in.MaxAllocatedStorage, MasterUsername: in.MasterUsername, DBName: in.DBName,
			StorageType: or(in.StorageType, "gp3"), Iops: or(in.Iops, 3000), StorageThroughput: in.StorageThroughput,
			StorageEncrypted: in.StorageEncrypted, KmsKeyId: in.KmsKeyId, MultiAZ: or(in.MultiAZ, false),
			PubliclyAccessible:           or(in.PubliclyAccessible, true),
			AutoMinorVersionUpgrade:      or(in.AutoMinorVersionUpgrade, true),
			BackupRetentionPeriod:        or(in.BackupRetentionPeriod, 1),
			PreferredBackupWindow:        or(in.PreferredBackupWindow, "04:00-04:30"),
			PreferredMaintenanceWindow:   or(in.PreferredMaintenanceWindow, "tue:05:00-tue:05:30"),
			PerformanceInsightsEnabled:   or(in.EnablePerformanceInsights, false),
			EnabledCloudwatchLogsExports: in.EnableCloudwatchLogsExports,
			DeletionProtection:           or(in.DeletionProtection, false), CopyTagsToSnapshot: in.CopyTagsToSnapshot,
			EngineLifecycleSupport: in.EngineLifecycleSupport, LicenseModel: or(in.LicenseModel, f.license),
			Endpoint: &rdstypes.Endpoint{
				Address: aws.String("db.example.com"), Port: or(in.Port, defaultPort(*in.Engine)),
			},
		}
		if aws.ToBool(in.ManageMasterUserPassword) {
			f.managed(true)
		}
		f.groups(orList(in.VpcSecurityGroupIds, "sg-default"), or(in.DBParameterGroupName, "default.postgres16"))
		f.renew()
		out.DBInstance = &rdstypes.DBInstance{DbiResourceId: f.db.DbiResourceId}
		return nil
	})
}

// renew replaces the instance with another one of the same identifier.
func (f *fakeRDS) renew() {
	f.made++
	f.db.DbiResourceId = aws.String("db-" + strconv.Itoa(f.made))
}

func or[T any](v *T, otherwise T) *T {
	if v == nil {
		return &otherwise
	}
	c := *v
	return &c
}

func orList(v []string, otherwise string) []string {
	if len(v) == 0 {
		return []string{otherwise}
	}
	return v
}

func (f *fakeRDS) managed(on bool) {
	f.db.MasterUserSecret = nil
	if on {
		f.db.MasterUserSecret, f.password = &rdstypes.MasterUserSecret{
			SecretArn: aws.String("arn:aws:secretsmanager:::secret:rds!db-1"),
		}, "AWS's"
	}
}

func (f *fakeRDS) groups(ids []string, parameters *string) {
	f.db.VpcSecurityGroups = nil
	for _, id := range ids {
		f.db.VpcSecurityGroups = append(f.db.VpcSecurityGroups, rdstypes.VpcSecurityGroupMembership{
			VpcSecurityGroupId: &id, Status: aws.String("active"),
		})
	}
	f.db.DBParameterGroups = []rdstypes.DBParameterGroupStatus{
		{DBParameterGroupName: parameters, ParameterApplyStatus: aws.String("in-sync")},
	}
}

func (f *fakeRDS) DeleteDBInstance(_ context.Context, in *rds.DeleteDBInstanceInput, _ ...opt) (
	*rds.DeleteDBInstanceOutput, error,
) {
	return &rds.DeleteDBInstanceOutput{}, f.write("DeleteDBInstance", func() error {
		name := aws.ToString(in.FinalDBSnapshotIdentifier)
		switch {
		case !f.is(in.DBInstanceIdentifier):
			return errNoInstance
		case *f.db.DeletionProtection, aws.ToBool(in.SkipFinalSnapshot) != (name == ""):
			return code("InvalidParameterCombination")
		case f.snapshots[name] != nil:
			return code("DBSnapshotAlreadyExists")
		}
		f.deleted = in
		if name != "" {
			tags := f.tags
			if !aws.ToBool(f.db.CopyTagsToSnapshot) {
				tags = nil
			}
			f.snapshot(name, tags)
		}
		if f.deletes {
			f.db.DBInstanceStatus = aws.String(statusDeleting)
		} else {
			f.db = nil
		}
		return nil
	})
}

func (f *fakeRDS) snapshot(name string, tags map[string]string) *rdstypes.DBSnapshot {
	if f.snapshots == nil {
		f.snapshots = map[string]*rdstypes.DBSnapshot{}
	}
	s := &rdstypes.DBSnapshot{
		DBSnapshotIdentifier: &name, DBSnapshotArn: aws.String("arn:aws:rds:" + region + ":" + account + ":snapshot:" +
			name),
		Status: aws.String("available"), Engine: aws.String("postgres"), TagList: tagList(tags),
	}
	f.snapshots[name] = s
	return s
}

func (f *fakeRDS) DescribeDBSnapshots(_ context.Context, in *rds.DescribeDBSnapshotsInput, _ ...opt) (
	*rds.DescribeDBSnapshotsOutput, error,
) {
	f.calls = append(f.calls, "DescribeDBSnapshots")
	s := f.snapshots[*in.DBSnapshotIdentifier]
	if s == nil {
		return nil, code("DBSnapshotNotFound")
	}
	shown := *s
	if f.leaveOut {
		shown.TagList = nil
	}
	return &rds.DescribeDBSnapshotsOutput{DBSnapshots: []rdstypes.DBSnapshot{shown}}, nil
}

func (f *fakeRDS) ListTagsForResource(_ context.Context, in *rds.ListTagsForResourceInput, _ ...opt) (
	*rds.ListTagsForResourceOutput, error,
) {
	f.calls = append(f.calls, "ListTagsForResource")
	if f.failTags != nil {
		return nil, f.failTags
	}
	for _, s := range f.snapshots {
		if aws.ToString(s.DBSnapshotArn) == *in.ResourceName {
			return &rds.ListTagsForResourceOutput{TagList: s.TagList}, nil
		}
	}
	if f.db == nil || *f.db.DBInstanceArn != *in.ResourceName {
		return nil, errNoInstance
	}
	return &rds.ListTagsForResourceOutput{TagList: tagList(f.tags)}, nil
}

func (f *fakeRDS) RestoreDBInstanceFromDBSnapshot(ctx context.Context, in *rds.RestoreDBInstanceFromDBSnapshotInput,
	_ ...opt,
) (*rds.RestoreDBInstanceFromDBSnapshotOutput, error) {
	engineName := f.snapshots[*in.DBSnapshotIdentifier].Engine
	if aws.ToBool(in.ManageMasterUserPassword) && family(*engineName) != "oracle" {
		return nil, code("InvalidParameterCombination")
	}
	_, err := f.CreateDBInstance(ctx, &rds.CreateDBInstanceInput{
		DBInstanceIdentifier: in.DBInstanceIdentifier, Engine: engineName, DBInstanceClass: in.DBInstanceClass,
		AllocatedStorage: aws.Int32(20), MasterUsername: aws.String("then"), DBName: aws.String("ledger"),
		MasterUserPassword: aws.String("of the snapshot"),
		PubliclyAccessible: in.PubliclyAccessible, ManageMasterUserPassword: in.ManageMasterUserPassword, Tags: in.Tags,
		EngineLifecycleSupport: in.EngineLifecycleSupport, LicenseModel: in.LicenseModel,
		StorageEncrypted: aws.Bool(true),
	})
	return &rds.RestoreDBInstanceFromDBSnapshotOutput{}, err
}

func (f *fakeRDS) AddTagsToResource(_ context.Context, in *rds.AddTagsToResourceInput, _ ...opt) (
	*rds.AddTagsToResourceOutput, error,
) {
	return &rds.AddTagsToResourceOutput{},
		f.write("AddTagsToResource", func() error { maps.Copy(f.tags, tagMap(in.Tags)); return nil })
}

func (f *fakeRDS) RemoveTagsFromResource(_ context.Context, in *rds.RemoveTagsFromResourceInput, _ ...opt) (
	*rds.RemoveTagsFromResourceOutput, error,
) {
	return &rds.RemoveTagsFromResourceOutput{}, f.write("RemoveTagsFromResource", func() error {
		maps.DeleteFunc(f.tags, func(key, _ string) bool { return slices.Contains(in.TagKeys, key) })
		return nil
	})
}

// fakeVault stores one record, and its value at each call to RDS.
type fakeVault struct {
	kept map[string]string
	fail error
}

func (v *fakeVault) Store(_ context.Context, _ string, _ client.Object, _ string, values map[string]string) error {
	if v.fail != nil {
		return v.fail
	}
	v.kept = maps.Clone(values)
	return nil
}

func (v *fakeVault) Load(context.Context, string, client.Object, string) (map[string]string, error) {
	return maps.Clone(v.kept), nil
}
