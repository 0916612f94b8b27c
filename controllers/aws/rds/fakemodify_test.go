package rds

import (
	"context"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/controllers/external"
)

func (f *fakeRDS) ModifyDBInstance(_ context.Context, in *rds.ModifyDBInstanceInput, _ ...opt) (
	*rds.ModifyDBInstanceOutput, error,
) {
	return &rds.ModifyDBInstanceOutput{}, f.write("ModifyDBInstance", func() error {
		if !f.is(in.DBInstanceIdentifier) {
			return errNoInstance
		}
		f.modified = in
		if aws.ToInt32(in.AllocatedStorage) < *f.db.AllocatedStorage && in.AllocatedStorage != nil {
			return code("InvalidParameterCombination")
		}
		if f.optimizing && changesStorage(in) {
			return errOptimizing
		}
		if f.refusesStorage(in) {
			return code("InvalidParameterCombination")
		}
		if aws.ToBool(in.RotateMasterUserPassword) && !aws.ToBool(in.ApplyImmediately) {
			return code("InvalidParameterCombination")
		}
		f.atOnce(in)
		f.inTheWindow(in)
		if aws.ToBool(in.ApplyImmediately) {
			f.window()
		}
		return nil
	})
}

// errOptimizing is RDS's error for a change of the storage within six hours of the last one, even while the instance is
// available.
var errOptimizing = &smithy.GenericAPIError{
	Code: "InvalidParameterCombination",
	Message: "You can't currently modify the storage of this DB instance because the previous storage change is " +
		"being optimized.",
}

func changesStorage(in *rds.ModifyDBInstanceInput) bool {
	return in.AllocatedStorage != nil || in.Iops != nil || in.StorageType != nil || in.StorageThroughput != nil
}

// refusesStorage reports whether RDS refuses the change: storage with provisioned operations is changed only together
// with them, and not while RDS optimizes it.
func (f *fakeRDS) refusesStorage(in *rds.ModifyDBInstanceInput) bool {
	if !changesStorage(in) {
		return false
	}
	if *f.db.DBInstanceStatus == "storage-optimization" {
		return true
	}
	has := *f.db.StorageType == "io1" || (*f.db.StorageType == "gp3" && *f.db.AllocatedStorage >= 400)
	return has && (in.AllocatedStorage == nil || in.Iops == nil)
}

// atOnce applies the changes that never wait.
func (f *fakeRDS) atOnce(in *rds.ModifyDBInstanceInput) {
	replace(&f.db.PubliclyAccessible, in.PubliclyAccessible)
	replace(&f.db.AutoMinorVersionUpgrade, in.AutoMinorVersionUpgrade)
	replace(&f.db.BackupRetentionPeriod, in.BackupRetentionPeriod)
	replace(&f.db.PreferredBackupWindow, in.PreferredBackupWindow)
	replace(&f.db.PreferredMaintenanceWindow, in.PreferredMaintenanceWindow)
	replace(&f.db.PerformanceInsightsEnabled, in.EnablePerformanceInsights)
	replace(&f.db.DeletionProtection, in.DeletionProtection)
	replace(&f.db.EngineLifecycleSupport, in.EngineLifecycleSupport)
	if replace(&f.db.LicenseModel, in.LicenseModel); in.LicenseModel != nil {
		f.relicensed++
	}
	replace(&f.db.CopyTagsToSnapshot, in.CopyTagsToSnapshot)
	replace(&f.db.Endpoint.Port, in.DBPortNumber)
	if in.MaxAllocatedStorage != nil {
		f.db.MaxAllocatedStorage = in.MaxAllocatedStorage
		if *in.MaxAllocatedStorage <= *f.db.AllocatedStorage {
			f.db.MaxAllocatedStorage = nil
		}
	}
	if in.MasterUserPassword != nil {
		f.password = *in.MasterUserPassword
	}
	if in.ManageMasterUserPassword != nil {
		f.managed(*in.ManageMasterUserPassword)
	}
	if aws.ToBool(in.RotateMasterUserPassword) {
		f.password += "+"
	}
	if c := in.CloudwatchLogsExportConfiguration; c != nil {
		f.db.EnabledCloudwatchLogsExports = slices.DeleteFunc(
			slices.Concat(f.db.EnabledCloudwatchLogsExports, c.EnableLogTypes), func(n string) bool {
				return slices.Contains(c.DisableLogTypes, n)
			})
	}
	ids := external.SplitSet(groups(f.db))
	if in.VpcSecurityGroupIds != nil {
		ids = in.VpcSecurityGroupIds
	}
	f.groups(ids, or(in.DBParameterGroupName, parameterGroup(f.db).name))
}

func replace[T any](at **T, with *T) {
	if with != nil {
		v := *with
		*at = &v
	}
}

// inTheWindow postpones the changes that interrupt.
func (f *fakeRDS) inTheWindow(in *rds.ModifyDBInstanceInput) {
	p := f.db.PendingModifiedValues
	if p == nil {
		p = &rdstypes.PendingModifiedValues{}
	}
	wait(&p.DBInstanceClass, in.DBInstanceClass, f.db.DBInstanceClass)
	wait(&p.AllocatedStorage, in.AllocatedStorage, f.db.AllocatedStorage)
	wait(&p.EngineVersion, in.EngineVersion, f.db.EngineVersion)
	wait(&p.StorageType, in.StorageType, f.db.StorageType)
	wait(&p.Iops, in.Iops, f.db.Iops)
	wait(&p.StorageThroughput, in.StorageThroughput, f.db.StorageThroughput)
	wait(&p.MultiAZ, in.MultiAZ, f.db.MultiAZ)
	f.db.PendingModifiedValues = p
}

func wait[T comparable](at **T, wish, now *T) {
	switch {
	case wish == nil:
	case now != nil && *wish == *now:
		*at = nil
	default:
		v := *wish
		*at = &v
	}
}

// window simulates the maintenance window: pending changes are applied.
func (f *fakeRDS) window() {
	p := f.db.PendingModifiedValues
	replace(&f.db.DBInstanceClass, p.DBInstanceClass)
	replace(&f.db.AllocatedStorage, p.AllocatedStorage)
	replace(&f.db.EngineVersion, p.EngineVersion)
	replace(&f.db.StorageType, p.StorageType)
	replace(&f.db.Iops, p.Iops)
	replace(&f.db.StorageThroughput, p.StorageThroughput)
	replace(&f.db.MultiAZ, p.MultiAZ)
	f.db.PendingModifiedValues = nil
}

// drift sets a setting to a value that no test declares.
func (f *fakeRDS) drift(path string) {
	flip := func(b **bool) { *b = aws.Bool(!aws.ToBool(*b)) }
	switch path {
	case "dbInstanceClass":
		f.db.DBInstanceClass = aws.String("db.m5.large")
	case "allocatedStorage":
		f.db.AllocatedStorage = aws.Int32(5)
	case "maxAllocatedStorage":
		f.db.MaxAllocatedStorage = nil
	case "storageType":
		f.db.StorageType = aws.String("io1")
	case "iops":
		f.db.Iops = aws.Int32(1)
	case "storageThroughput":
		f.db.StorageThroughput = nil
	case "port":
		f.db.Endpoint.Port = aws.Int32(1)
	case "multiAZ":
		flip(&f.db.MultiAZ)
	case "publiclyAccessible":
		flip(&f.db.PubliclyAccessible)
	case "vpcSecurityGroupIDs":
		f.groups([]string{"sg-x"}, aws.String(parameterGroup(f.db).name))
	case "dbParameterGroupName":
		f.groups(external.SplitSet(groups(f.db)), aws.String("another"))
	case "autoMinorVersionUpgrade":
		flip(&f.db.AutoMinorVersionUpgrade)
	case "backupRetentionPeriod":
		f.db.BackupRetentionPeriod = aws.Int32(0)
	case "preferredBackupWindow":
		f.db.PreferredBackupWindow = aws.String("09:00-09:30")
	case "preferredMaintenanceWindow":
		f.db.PreferredMaintenanceWindow = aws.String("wed:09:00-wed:09:30")
	case "performanceInsightsEnabled":
		flip(&f.db.PerformanceInsightsEnabled)
	case "enabledCloudwatchLogsExports":
		f.db.EnabledCloudwatchLogsExports = []string{"upgrade", "postgresql"}
	case "engineLifecycleSupport":
		f.db.EngineLifecycleSupport = aws.String(noExtendedSupport)
	case "licenseModel":
		f.db.LicenseModel = aws.String("license-included")
	case "deletionProtection":
		flip(&f.db.DeletionProtection)
	case versionPath:
		f.db.EngineVersion = aws.String("15.2")
	default:
		panic("no drift of " + strconv.Quote(path))
	}
}
