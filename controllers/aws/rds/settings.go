package rds

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

type (
	spec    = v1alpha1.RDSInstanceSpec
	current = rdstypes.DBInstance
	pending = rdstypes.PendingModifiedValues
	input   = rds.ModifyDBInstanceInput
	field   = external.Setting[*v1alpha1.RDSInstance, instanceState]
)

// setting is one thing that ModifyDBInstance changes. Its pending value counts, not its current one: a change that
// waits for the maintenance window is not requested again.
type setting struct {
	path      string
	want      func(*spec) (string, bool)
	have      func(*current, *pending) string
	set       func(in *input, value string, seen *instanceState)
	byDefault string
	sticky    bool
	safe      bool
	guard     string // see external.Setting
	same      func(have, want string) bool
	together  string
}

const (
	groupsPath         = "vpcSecurityGroupIDs"
	parameterGroupPath = "dbParameterGroupName"
)

// What RDS validates together: the storage; a version and its parameter group; the windows, which must not overlap.
const (
	storageTogether = "storage"
	versionTogether = "version"
	windowsTogether = "windows"
)

// settings are in the order in which changes are reported. The defaults are those of the API reference of
// CreateDBInstance; sticky are those whose default depends on the account, the region or other settings, and three that
// protect. engineVersion and dbInstanceIdentifier are compared elsewhere.
var settings = []setting{
	{
		path: "dbInstanceClass", sticky: true, want: external.Text(func(s *spec) string { return s.DBInstanceClass }),
		have: func(c *current, p *pending) string { return firstString(p.DBInstanceClass, c.DBInstanceClass) },
		set:  func(in *input, v string, _ *instanceState) { in.DBInstanceClass = &v },
	},
	{
		path: "allocatedStorage", sticky: true, together: storageTogether,
		want: external.Number(func(s *spec) *int32 { return &s.AllocatedStorage }), same: external.NotLess,
		have: func(c *current, p *pending) string { return external.FormatInt(p.AllocatedStorage, c.AllocatedStorage) },
		set:  func(in *input, v string, _ *instanceState) { in.AllocatedStorage = external.ParseInt(v) },
	},
	{
		path: "maxAllocatedStorage", byDefault: noAutoscaling, want: autoscaling,
		have: room, set: setAutoscaling,
	},
	{
		path: "storageType", sticky: true, together: storageTogether, want: external.Text(func(s *spec) string { return s.StorageType }),
		have: func(c *current, p *pending) string { return firstString(p.StorageType, c.StorageType) },
		set:  func(in *input, v string, _ *instanceState) { in.StorageType = &v },
	},
	{
		path: "iops", sticky: true, together: storageTogether, want: external.Number(func(s *spec) *int32 { return s.IOPS }), same: roundedUp,
		have: func(c *current, p *pending) string { return external.FormatInt(p.Iops, c.Iops) },
		set:  func(in *input, v string, _ *instanceState) { in.Iops = external.ParseInt(v) },
	},
	{
		path: "storageThroughput", sticky: true, together: storageTogether,
		want: external.Number(func(s *spec) *int32 { return s.StorageThroughput }),
		have: func(c *current, p *pending) string {
			return external.FormatInt(p.StorageThroughput, c.StorageThroughput)
		},
		set: func(in *input, v string, _ *instanceState) { in.StorageThroughput = external.ParseInt(v) },
	},
	{
		path: "port", want: external.Number(func(s *spec) *int32 { return s.Port }),
		have: func(c *current, p *pending) string { return external.FormatInt(p.Port, portOf(c)) },
		set:  func(in *input, v string, _ *instanceState) { in.DBPortNumber = external.ParseInt(v) },
	},
	{
		path: "multiAZ", byDefault: "false", want: external.Bool(func(s *spec) *bool { return s.MultiAZ }),
		have: func(c *current, p *pending) string { return formatBool(p.MultiAZ, c.MultiAZ) },
		set:  func(in *input, v string, _ *instanceState) { in.MultiAZ = aws.Bool(v == "true") },
	},
	{
		path: "publiclyAccessible", byDefault: "false", safe: true,
		want: external.Bool(func(s *spec) *bool { return s.PubliclyAccessible }),
		have: func(c *current, _ *pending) string { return formatBool(c.PubliclyAccessible) },
		set:  func(in *input, v string, _ *instanceState) { in.PubliclyAccessible = aws.Bool(v == "true") },
	},
	{
		path: groupsPath, sticky: true, want: external.Set(func(s *spec) []string { return s.VPCSecurityGroupIDs }),
		have: func(c *current, _ *pending) string { return groups(c) },
		set:  func(in *input, v string, _ *instanceState) { in.VpcSecurityGroupIds = external.SplitSet(v) },
	},
	{
		path: parameterGroupPath, sticky: true, together: versionTogether,
		want: external.Text(func(s *spec) string { return s.DBParameterGroupName }), same: strings.EqualFold,
		have: func(c *current, _ *pending) string { return parameterGroup(c).name },
		set:  func(in *input, v string, _ *instanceState) { in.DBParameterGroupName = &v },
	},
	{
		path: "autoMinorVersionUpgrade", byDefault: "true",
		want: external.Bool(func(s *spec) *bool { return s.AutoMinorVersionUpgrade }),
		have: func(c *current, _ *pending) string { return formatBool(c.AutoMinorVersionUpgrade) },
		set:  func(in *input, v string, _ *instanceState) { in.AutoMinorVersionUpgrade = aws.Bool(v == "true") },
	},
	{
		// Its default would cost money or cause an upgrade, which no missing line should.
		path: "engineLifecycleSupport", sticky: true,
		want: external.Text(func(s *spec) string { return s.EngineLifecycleSupport }),
		have: func(c *current, _ *pending) string { return firstString(c.EngineLifecycleSupport) },
		set:  func(in *input, v string, _ *instanceState) { in.EngineLifecycleSupport = &v },
	},
	{
		path: "licenseModel", sticky: true, want: external.Text(func(s *spec) string { return s.LicenseModel }),
		have: func(c *current, p *pending) string { return firstString(p.LicenseModel, c.LicenseModel) },
		set:  func(in *input, v string, _ *instanceState) { in.LicenseModel = &v },
	},
	{
		// Its default would delete recovery points, which no missing line should.
		path: "backupRetentionPeriod", sticky: true,
		want: external.Number(func(s *spec) *int32 { return s.BackupRetentionPeriod }),
		have: func(c *current, p *pending) string {
			return external.FormatInt(p.BackupRetentionPeriod, c.BackupRetentionPeriod)
		},
		set: func(in *input, v string, _ *instanceState) { in.BackupRetentionPeriod = external.ParseInt(v) },
	},
	{
		path: "preferredBackupWindow", sticky: true, together: windowsTogether,
		want: external.Text(func(s *spec) string { return s.PreferredBackupWindow }),
		have: func(c *current, _ *pending) string { return firstString(c.PreferredBackupWindow) },
		set:  func(in *input, v string, _ *instanceState) { in.PreferredBackupWindow = &v },
	},
	{
		path: "preferredMaintenanceWindow", sticky: true, together: windowsTogether,
		want: external.Text(func(s *spec) string { return s.PreferredMaintenanceWindow }), same: strings.EqualFold,
		have: func(c *current, _ *pending) string { return firstString(c.PreferredMaintenanceWindow) },
		set: func(in *input, v string, _ *instanceState) {
			in.PreferredMaintenanceWindow = aws.String(strings.ToLower(v))
		},
	},
	{
		path: "performanceInsightsEnabled", byDefault: "false",
		want: external.Bool(func(s *spec) *bool { return s.PerformanceInsightsEnabled }),
		have: func(c *current, _ *pending) string { return formatBool(c.PerformanceInsightsEnabled) },
		set:  func(in *input, v string, _ *instanceState) { in.EnablePerformanceInsights = aws.Bool(v == "true") },
	},
	{
		path: "enabledCloudwatchLogsExports",
		want: external.Set(func(s *spec) []string { return s.EnabledCloudwatchLogsExports }),
		have: logs, set: setLogs,
	},
	{
		path: "deletionProtection", sticky: true, guard: "true",
		want: external.Bool(func(s *spec) *bool { return s.DeletionProtection }),
		have: func(c *current, _ *pending) string { return formatBool(c.DeletionProtection) },
		set:  func(in *input, v string, _ *instanceState) { in.DeletionProtection = aws.Bool(v == "true") },
	},
}

// settingOf returns the setting with this path in the spec.
func settingOf(path string) (setting, bool) {
	at := slices.IndexFunc(settings, func(s setting) bool { return s.path == path })
	if at < 0 {
		return setting{}, false
	}
	return settings[at], true
}

// fields returns the settings of the engine for comparison. inForce compares current values instead of pending ones.
func fields(engine string, inForce bool) []field {
	all := make([]field, 0, len(settings))
	for _, s := range settings {
		f := field{
			Path: s.path, Default: s.byDefault, Sticky: s.sticky, Safe: s.safe, Guard: s.guard, Same: s.same, Together: s.together,
			Want: func(obj *v1alpha1.RDSInstance) (string, bool) { return s.want(&obj.Spec) },
			Have: func(seen *instanceState) string {
				waiting := seen.pending()
				if inForce {
					waiting = pending{}
				}
				return s.have(&seen.db, &waiting)
			},
		}
		if s.path == "port" {
			f.Default = strconv.Itoa(int(defaultPort(engine)))
		}
		all = append(all, f)
	}
	return all
}

// noAutoscaling means that the storage has no room to grow. RDS switches autoscaling off when the maximum is set to the
// allocated size, and then shows none.
const noAutoscaling = "0"

func room(c *current, p *pending) string {
	if most := aws.ToInt32(c.MaxAllocatedStorage); most > aws.ToInt32(
		external.FirstSet(p.AllocatedStorage, c.AllocatedStorage)) {
		return strconv.Itoa(int(most))
	}
	return noAutoscaling
}

func autoscaling(s *spec) (string, bool) {
	if s.MaxAllocatedStorage != nil && *s.MaxAllocatedStorage == s.AllocatedStorage {
		return noAutoscaling, true
	}
	return external.Number(func(s *spec) *int32 { return s.MaxAllocatedStorage })(s)
}

func setAutoscaling(in *input, value string, seen *instanceState) {
	switch {
	case value != noAutoscaling:
		in.MaxAllocatedStorage = external.ParseInt(value)
	case seen != nil:
		p := seen.pending()
		in.MaxAllocatedStorage = aws.Int32(max(aws.ToInt32(seen.db.AllocatedStorage), aws.ToInt32(p.AllocatedStorage)))
	}
}
