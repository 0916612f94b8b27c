package rds

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

type (
	rdsObject   = *v1alpha1.RDSInstance
	description = external.Setting[rdsObject, instanceState]
	input       = rds.ModifyDBInstanceInput
	pending     = rdstypes.PendingModifiedValues
)

// setting is one thing that ModifyDBInstance changes. Its pending value counts, not its current one: a change that
// waits for the maintenance window is not requested again.
type setting struct {
	description
	// set writes the value into the call's input; seen is nil for a new instance.
	set func(in *input, value string, seen *instanceState)
}

const (
	groupsPath         = "vpcSecurityGroupIDs"
	parameterGroupPath = "dbParameterGroupName"
	portPath           = "port"
)

// What RDS validates together: the storage; a version and its parameter group; the windows, which must not overlap.
const (
	storageTogether = "storage"
	versionTogether = "version"
	windowsTogether = "windows"
)

// settings are in the order in which changes are reported. The defaults are those of the API reference of
// CreateDBInstance; sticky are those whose default depends on the account, the region or other settings, and three that
// protect. Those that RDS cannot change are in fixed;
// engineVersion and dbInstanceIdentifier are compared elsewhere.
var settings = []setting{
	{description{
		Path: "dbInstanceClass", Sticky: true,
		Want: external.Text(func(o rdsObject) string { return o.Spec.DBInstanceClass }),
		Have: func(s *instanceState) string { return firstString(s.pending().DBInstanceClass, s.db.DBInstanceClass) },
	}, func(in *input, v string, _ *instanceState) { in.DBInstanceClass = &v }},
	{description{
		Path: "allocatedStorage", Sticky: true, Same: external.NotLess, Together: storageTogether,
		Want: external.Number(func(o rdsObject) *int32 { return &o.Spec.AllocatedStorage }),
		Have: func(s *instanceState) string {
			return external.FormatInt(s.pending().AllocatedStorage, s.db.AllocatedStorage)
		},
	}, func(in *input, v string, _ *instanceState) { in.AllocatedStorage = external.ParseInt(v) }},
	{description{
		Path: "maxAllocatedStorage", Default: noAutoscaling, Want: autoscaling, Have: room,
	}, setAutoscaling},
	{description{
		Path: "storageType", Sticky: true, Together: storageTogether,
		Want: external.Text(func(o rdsObject) string { return o.Spec.StorageType }),
		Have: func(s *instanceState) string { return firstString(s.pending().StorageType, s.db.StorageType) },
	}, func(in *input, v string, _ *instanceState) { in.StorageType = &v }},
	{description{
		Path: "iops", Sticky: true, Same: roundedUp, Together: storageTogether,
		Want: external.Number(func(o rdsObject) *int32 { return o.Spec.IOPS }),
		Have: func(s *instanceState) string { return external.FormatInt(s.pending().Iops, s.db.Iops) },
	}, func(in *input, v string, _ *instanceState) { in.Iops = external.ParseInt(v) }},
	{description{
		Path: "storageThroughput", Sticky: true, Together: storageTogether,
		Want: external.Number(func(o rdsObject) *int32 { return o.Spec.StorageThroughput }),
		Have: func(s *instanceState) string {
			return external.FormatInt(s.pending().StorageThroughput, s.db.StorageThroughput)
		},
	}, func(in *input, v string, _ *instanceState) { in.StorageThroughput = external.ParseInt(v) }},
	{description{
		Path: portPath, Want: external.Number(func(o rdsObject) *int32 { return o.Spec.Port }),
		Have: func(s *instanceState) string { return external.FormatInt(s.pending().Port, portOf(&s.db)) },
	}, func(in *input, v string, _ *instanceState) { in.DBPortNumber = external.ParseInt(v) }},
	{description{
		Path: "multiAZ", Default: "false", Want: external.Bool(func(o rdsObject) *bool { return o.Spec.MultiAZ }),
		Have: func(s *instanceState) string { return formatBool(s.pending().MultiAZ, s.db.MultiAZ) },
	}, func(in *input, v string, _ *instanceState) { in.MultiAZ = aws.Bool(v == "true") }},
	{description{
		Path: "publiclyAccessible", Default: "false", Safe: true,
		Want: external.Bool(func(o rdsObject) *bool { return o.Spec.PubliclyAccessible }),
		Have: func(s *instanceState) string { return formatBool(s.db.PubliclyAccessible) },
	}, func(in *input, v string, _ *instanceState) { in.PubliclyAccessible = aws.Bool(v == "true") }},
	{description{
		Path: groupsPath, Sticky: true,
		Want: external.Set(func(o rdsObject) []string { return o.Spec.VPCSecurityGroupIDs }),
		Have: func(s *instanceState) string { return groups(&s.db) },
	}, func(in *input, v string, _ *instanceState) { in.VpcSecurityGroupIds = external.SplitSet(v) }},
	{description{
		Path: parameterGroupPath, Sticky: true, Same: strings.EqualFold, Together: versionTogether,
		Want: external.Text(func(o rdsObject) string { return o.Spec.DBParameterGroupName }),
		Have: func(s *instanceState) string { return parameterGroup(&s.db).name },
	}, func(in *input, v string, _ *instanceState) { in.DBParameterGroupName = &v }},
	{description{
		Path: "autoMinorVersionUpgrade", Default: "true",
		Want: external.Bool(func(o rdsObject) *bool { return o.Spec.AutoMinorVersionUpgrade }),
		Have: func(s *instanceState) string { return formatBool(s.db.AutoMinorVersionUpgrade) },
	}, func(in *input, v string, _ *instanceState) { in.AutoMinorVersionUpgrade = aws.Bool(v == "true") }},
	{description{
		// Its default would cost money or cause an upgrade, which no missing line should.
		Path: "engineLifecycleSupport", Sticky: true,
		Want: external.Text(func(o rdsObject) string { return o.Spec.EngineLifecycleSupport }),
		Have: func(s *instanceState) string { return firstString(s.db.EngineLifecycleSupport) },
	}, func(in *input, v string, _ *instanceState) { in.EngineLifecycleSupport = &v }},
	{description{
		Path: "licenseModel", Sticky: true,
		Want: external.Text(func(o rdsObject) string { return o.Spec.LicenseModel }),
		Have: func(s *instanceState) string { return firstString(s.pending().LicenseModel, s.db.LicenseModel) },
	}, func(in *input, v string, _ *instanceState) { in.LicenseModel = &v }},
	{description{
		// Its default would delete recovery points, which no missing line should.
		Path: "backupRetentionPeriod", Sticky: true,
		Want: external.Number(func(o rdsObject) *int32 { return o.Spec.BackupRetentionPeriod }),
		Have: func(s *instanceState) string {
			return external.FormatInt(s.pending().BackupRetentionPeriod, s.db.BackupRetentionPeriod)
		},
	}, func(in *input, v string, _ *instanceState) { in.BackupRetentionPeriod = external.ParseInt(v) }},
	{description{
		Path: "preferredBackupWindow", Sticky: true, Together: windowsTogether,
		Want: external.Text(func(o rdsObject) string { return o.Spec.PreferredBackupWindow }),
		Have: func(s *instanceState) string { return firstString(s.db.PreferredBackupWindow) },
	}, func(in *input, v string, _ *instanceState) { in.PreferredBackupWindow = &v }},
	{description{
		Path: "preferredMaintenanceWindow", Sticky: true, Same: strings.EqualFold, Together: windowsTogether,
		Want: external.Text(func(o rdsObject) string { return o.Spec.PreferredMaintenanceWindow }),
		Have: func(s *instanceState) string { return firstString(s.db.PreferredMaintenanceWindow) },
	}, func(in *input, v string, _ *instanceState) {
		in.PreferredMaintenanceWindow = aws.String(strings.ToLower(v))
	}},
	{description{
		Path: "performanceInsightsEnabled", Default: "false",
		Want: external.Bool(func(o rdsObject) *bool { return o.Spec.PerformanceInsightsEnabled }),
		Have: func(s *instanceState) string { return formatBool(s.db.PerformanceInsightsEnabled) },
	}, func(in *input, v string, _ *instanceState) { in.EnablePerformanceInsights = aws.Bool(v == "true") }},
	{description{
		Path: "enabledCloudwatchLogsExports",
		Want: external.Set(func(o rdsObject) []string { return o.Spec.EnabledCloudwatchLogsExports }),
		Have: logs,
	}, setLogs},
	{description{
		Path: "deletionProtection", Sticky: true, Guard: "true",
		Want: external.Bool(func(o rdsObject) *bool { return o.Spec.DeletionProtection }),
		Have: func(s *instanceState) string { return formatBool(s.db.DeletionProtection) },
	}, func(in *input, v string, _ *instanceState) { in.DeletionProtection = aws.Bool(v == "true") }},
}

// descriptions returns the settings for comparison. The default port is the engine's.
func descriptions(engine string) []description {
	all := make([]description, 0, len(settings))
	for _, s := range settings {
		if s.Path == portPath {
			s.Default = strconv.Itoa(int(defaultPort(engine)))
		}
		all = append(all, s.description)
	}
	return all
}

// fixed are the settings that RDS cannot change.
var fixed = []description{
	{
		Path: "engine", Sticky: true, Same: sameFixed,
		Want: external.Text(func(o rdsObject) string { return o.Spec.Engine }),
		Have: func(s *instanceState) string { return aws.ToString(s.db.Engine) },
	},
	{
		Path: "masterUsername", Sticky: true, Same: sameFixed,
		Want: func(o rdsObject) (string, bool) { return o.Spec.MasterUsername, o.Spec.RestoreFrom == nil },
		Have: func(s *instanceState) string { return aws.ToString(s.db.MasterUsername) },
	},
	{
		Path: "dbName", Sticky: true, Same: sameFixed,
		Want: external.Text(func(o rdsObject) string { return o.Spec.DBName }),
		Have: func(s *instanceState) string { return aws.ToString(s.db.DBName) },
	},
	{
		Path: "storageEncrypted", Sticky: true,
		Want: external.Bool(func(o rdsObject) *bool { return o.Spec.StorageEncrypted }),
		Have: func(s *instanceState) string { return formatBool(s.db.StorageEncrypted) },
	},
	{
		Path: "dbSubnetGroupName", Sticky: true, Same: sameFixed,
		Want: external.Text(func(o rdsObject) string { return o.Spec.DBSubnetGroupName }),
		Have: func(s *instanceState) string {
			if s.db.DBSubnetGroup == nil {
				return ""
			}
			return aws.ToString(s.db.DBSubnetGroup.DBSubnetGroupName)
		},
	},
}

// sameFixed compares names. One that RDS does not show counts as the wanted one.
func sameFixed(have, want string) bool { return have == "" || strings.EqualFold(have, want) }

// noAutoscaling means that the storage has no room to grow. RDS switches autoscaling off when the maximum is set to the
// allocated size, and then shows none.
const noAutoscaling = "0"

func room(seen *instanceState) string {
	if most := aws.ToInt32(seen.db.MaxAllocatedStorage); most > aws.ToInt32(
		external.FirstSet(seen.pending().AllocatedStorage, seen.db.AllocatedStorage)) {
		return strconv.Itoa(int(most))
	}
	return noAutoscaling
}

func autoscaling(o rdsObject) (string, bool) {
	if most := o.Spec.MaxAllocatedStorage; most != nil && *most == o.Spec.AllocatedStorage {
		return noAutoscaling, true
	}
	return external.Number(func(o rdsObject) *int32 { return o.Spec.MaxAllocatedStorage })(o)
}

func setAutoscaling(in *input, value string, seen *instanceState) {
	switch {
	case value != noAutoscaling:
		in.MaxAllocatedStorage = external.ParseInt(value)
	case seen != nil:
		in.MaxAllocatedStorage = aws.Int32(
			max(aws.ToInt32(seen.db.AllocatedStorage), aws.ToInt32(seen.pending().AllocatedStorage)))
	}
}
