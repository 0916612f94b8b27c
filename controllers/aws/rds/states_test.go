package rds

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"k8s.io/apimachinery/pkg/api/meta"
	"pgregory.net/rapid"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestStatesAreTold(t *testing.T) {
	for status, want := range map[string]string{
		"available": "", "storage-optimization": "", "backing-up": "", "configuring-enhanced-monitoring": "",
		"creating": "Creating", "modifying": "Modifying", "rebooting": "Rebooting",
		"resetting-master-credentials": "ResettingMasterCredentials",
		"deleting":                     "DeletedOutside", "stopped": "Stopped!", "storage-full": "StorageFull!",
		"failed":               "DatabaseFailed!",
		"incompatible-network": "IncompatibleNetwork!", "incompatible-restore": "DatabaseFailed!",
		"incompatible-create": "Incompatible!", "inaccessible-encryption-credentials-recoverable": "KeyNotAccessible!",
		"something-new": "SomethingNew", "": "Unknown",
	} {
		f, v, obj := &fakeRDS{}, &fakeVault{}, object()
		settled(t, f, v, obj)
		f.db.DBInstanceStatus = aws.String(status)
		if _, _, err := pass(t, f, v, obj); paused(err) != want {
			t.Errorf("%s: %v, want %q", status, err, want)
		}
		if obj.Status.DBInstanceStatus != status {
			t.Errorf("%s is reported as %s", status, obj.Status.DBInstanceStatus)
		}
		writes := f.writes
		obj.Spec.BackupRetentionPeriod = aws.Int32(9)
		pass(t, f, v, obj)
		if takes := slices.Contains([]string{"available", "storage-optimization", "storage-full"},
			status); (f.writes > writes) != takes {
			t.Errorf("%s: changed %v", status, f.writes > writes)
		}
	}
}

func TestTheFirstBackupBelongsToTheCreation(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	obj.Status.FirstReadyTime, f.db.DBInstanceStatus = nil, aws.String("backing-up")
	if _, _, err := pass(t, f, v, obj); paused(err) != "BackingUp" {
		t.Errorf("%v", err)
	}
}

func TestVersions(t *testing.T) {
	for _, row := range []struct {
		engine, want, have string
		auto               *bool
		major              bool
		change             string
		paused             string
	}{
		{engine: "postgres", want: "16", have: "16.4"},
		{engine: "postgres", want: "16.4", have: "16.5"},
		{engine: "postgres", want: "16.4", have: "16.10"},
		{engine: "postgres", want: "16.4", have: "16.5", auto: aws.Bool(false), paused: "DowngradeImpossible!"},
		{engine: "postgres", want: "16.10", have: "16.9", change: "16.10"},
		{engine: "postgres", want: "17", have: "16.4", paused: "MajorUpgradeNotAllowed!"},
		{engine: "postgres", want: "17", have: "16.4", major: true, change: "17"},
		{engine: "postgres", want: "15", have: "16.4", major: true, paused: "DowngradeImpossible!"},
		{engine: "mysql", want: "8.0", have: "8.0.39"},
		{engine: "mysql", want: "8.4", have: "8.0.39", paused: "MajorUpgradeNotAllowed!"},
		{engine: "mysql", want: "8.0.40", have: "8.0.39", change: "8.0.40"},
		{engine: "mariadb", want: "10.11", have: "10.6.18", major: true, change: "10.11"},
		{engine: "oracle-ee", want: "19", have: "19.0.0.0.ru-2024-01.rur-2024-01.r1"},
		{engine: "oracle-ee", want: "19.0.0.0.ru-2024-04.rur-2024-04.r1", have: "19.0.0.0.ru-2024-01.rur-2024-01.r1", change: "19.0.0.0.ru-2024-04.rur-2024-04.r1"},
		{engine: "sqlserver-ex", want: "16.00", have: "15.00.4316.3.v1", paused: "MajorUpgradeNotAllowed!"},
		{engine: "postgres", have: "16.4"},
	} {
		obj := object(func(i *v1alpha1.RDSInstance) {
			i.Spec.Engine, i.Spec.EngineVersion, i.Spec.AutoMinorVersionUpgrade,
				i.Spec.AllowMajorVersionUpgrade = row.engine, row.want, row.auto, row.major
		})
		change, err := planVersion(obj, row.have)
		got := ""
		if change != nil {
			got = change.To
		}
		if got != row.change || paused(err) != row.paused {
			t.Errorf("%+v: %q, %v", row, got, err)
		}
	}
}

func TestABlockedUpgradeHoldsUpNothingElse(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object(func(i *v1alpha1.RDSInstance) { i.Spec.EngineVersion = "16" })
	settled(t, f, v, obj)
	obj.Spec.EngineVersion, obj.Spec.BackupRetentionPeriod = "17", aws.Int32(9)
	_, taken, err := pass(t, f, v, obj)
	if paused(err) != "MajorUpgradeNotAllowed!" || len(taken) != 1 || *f.db.BackupRetentionPeriod != 9 {
		t.Errorf("%v, %v", taken, err)
	}
	obj.Spec.AllowMajorVersionUpgrade = true
	settled(t, f, v, obj)
	if !*f.modified.AllowMajorVersionUpgrade || *f.modified.EngineVersion != "17" {
		t.Errorf("the upgrade was asked for as %+v", f.modified)
	}
}

func TestChangesWaitForTheWindowAndAreShown(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	obj.Spec.DBInstanceClass, obj.Generation = "db.m5.large", 2
	settled(t, f, v, obj)
	writes := f.writes
	settled(t, f, v, obj)
	c := meta.FindStatusCondition(obj.Status.Conditions, v1alpha1.ConditionChangesApplied)
	if class := obj.Status.InstanceClass; f.writes != writes || class != "db.t4g.micro" {
		t.Errorf("%d writes, InstanceClass = %s, want none, db.t4g.micro", f.writes-writes, class)
	}
	next := obj.Status.PendingModifiedValues["dbInstanceClass"]
	if next != "db.m5.large" || c.Reason != "WaitingForMaintenanceWindow" {
		t.Errorf("pending %q, reason %s, want db.m5.large, WaitingForMaintenanceWindow", next, c.Reason)
	}
	obj.Spec.ApplyImmediately, obj.Generation = true, 3
	settled(t, f, v, obj)
	c = meta.FindStatusCondition(obj.Status.Conditions, v1alpha1.ConditionChangesApplied)
	if class := obj.Status.InstanceClass; f.writes != writes+1 || class != "db.m5.large" {
		t.Errorf("%d writes, InstanceClass = %s, want 1, db.m5.large", f.writes-writes, class)
	}
	if pending := obj.Status.PendingModifiedValues; pending != nil || c.Reason != "Applied" {
		t.Errorf("pending %v, reason %s, want none, Applied", pending, c.Reason)
	}
	// RDS is still at work: the change is not requested again.
	f.db.DBInstanceClass, f.db.PendingModifiedValues = aws.String("db.t4g.micro"), &rdstypes.PendingModifiedValues{
		DBInstanceClass: aws.String("db.m5.large"),
	}
	if _, _, err := pass(t, f, v, obj); paused(err) != "Modifying" || f.writes != writes+1 {
		t.Errorf("%v after %d writes", err, f.writes-writes)
	}
}

func TestAPendingRebootIsShownAndNotFought(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{},
		object(func(i *v1alpha1.RDSInstance) { i.Spec.DBParameterGroupName = "ours" })
	settled(t, f, v, obj)
	f.db.DBParameterGroups[0].ParameterApplyStatus = aws.String("pending-reboot")
	writes := f.writes
	settled(t, f, v, obj)
	c := meta.FindStatusCondition(obj.Status.Conditions, v1alpha1.ConditionChangesApplied)
	if f.writes != writes || obj.Status.ParameterApplyStatus != "pending-reboot" || c.Reason != "WaitingForReboot" {
		t.Errorf("%d writes, %+v", f.writes-writes, c)
	}
}

func TestWhatAWSMovesByItselfIsNoDrift(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object(func(i *v1alpha1.RDSInstance) {
		i.Spec.MaxAllocatedStorage, i.Spec.PreferredMaintenanceWindow, i.Spec.EngineVersion = aws.Int32(100),
			"SUN:03:00-Sun:03:30", "16"
	})
	settled(t, f, v, obj)
	writes := f.writes
	for _, storage := range []int32{50, 100} {
		f.db.AllocatedStorage, f.db.EngineVersion = aws.Int32(storage), aws.String("16.9")
		if storage == 100 {
			f.db.MaxAllocatedStorage = nil // RDS no longer shows a maximum
		}
		settled(t, f, v, obj)
	}
	if f.writes != writes {
		t.Errorf("fought what AWS does, with %+v", f.modified)
	}
	obj.Spec.StorageType = "io1"
	settled(t, f, v, obj)
	if *f.modified.AllocatedStorage != 100 {
		t.Errorf("a change of type asks for %d GiB", *f.modified.AllocatedStorage)
	}
}

// An empty window made an earlier system call ModifyDBInstance in every pass.
func TestAnEmptyWindowIsNoWish(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{},
		object(func(i *v1alpha1.RDSInstance) { i.Spec.PreferredBackupWindow = "02:00-02:30" })
	settled(t, f, v, obj)
	obj.Spec.PreferredBackupWindow = ""
	writes := f.writes
	if settled(t, f, v, obj); f.writes != writes {
		t.Errorf("called with %+v", f.modified)
	}
}

func TestAnotherDatabaseIsNotTakenForThis(t *testing.T) {
	for name, change := range map[string]func(*fakeRDS){
		"engine":           func(f *fakeRDS) { f.db.Engine = aws.String("mysql") },
		"masterUsername":   func(f *fakeRDS) { f.db.MasterUsername = aws.String("root") },
		"dbName":           func(f *fakeRDS) { f.db.DBName = aws.String("other") },
		"storageEncrypted": func(f *fakeRDS) { f.db.StorageEncrypted = aws.Bool(false) },
		"dbSubnetGroupName": func(f *fakeRDS) {
			f.db.DBSubnetGroup = &rdstypes.DBSubnetGroup{DBSubnetGroupName: aws.String("elsewhere")}
		},
	} {
		f, v := &fakeRDS{}, &fakeVault{}
		obj := object(full, func(i *v1alpha1.RDSInstance) {
			i.Spec.StorageEncrypted, i.Spec.DBSubnetGroupName = aws.Bool(true), "here"
		})
		settled(t, f, v, obj)
		change(f)
		f.tags["portico.dev/uid"] = "older"
		writes := f.writes
		if _, _, err := pass(t, f, v, obj); paused(err) != "ImmutableDiffers!" ||
			!strings.Contains(err.Error(), name) || f.writes != writes {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWSErrorsAreOutcomes(t *testing.T) {
	for what, want := range map[string]string{
		"InvalidDBInstanceState": "Busy", "InsufficientDBInstanceCapacity": "InsufficientCapacity!",
		"StorageQuotaExceeded":  "QuotaExceeded!",
		"InstanceQuotaExceeded": "QuotaExceeded!", "DBSubnetGroupNotFoundFault": "InvalidSpec!",
		"KMSKeyNotAccessibleFault":               "InvalidSpec!",
		"DBInstanceAutomatedBackupQuotaExceeded": "QuotaExceeded!", "OptionGroupNotFoundFault": "InvalidSpec!",
		"InvalidParameterDependency":  "InvalidSpec!",
		"InvalidParameterCombination": "InvalidSpec!", "DBParameterGroupNotFound": "InvalidSpec!",
		"AccessDenied": "AccessDenied!", "InternalFailure": "",
	} {
		if _, _, err := pass(t, &fakeRDS{refuse: code(what)}, &fakeVault{}, object()); err == nil ||
			paused(err) != want {
			t.Errorf("%s at creation: %v", what, err)
		}
	}
}

// From any state of the settings, two rounds of actions lead to what is declared; pending changes count as done.
func TestPlanConvergesFromAnywhere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f, v, obj := &fakeRDS{}, &fakeVault{}, object(full)
		settled(r, f, v, obj)
		paths := append(slices.Collect(func(yield func(string) bool) {
			for _, s := range settings {
				if !yield(s.Path) {
					return
				}
			}
		}), versionPath)
		for _, path := range rapid.SliceOfDistinct(rapid.SampledFrom(paths), rapid.ID[string]).Draw(r, "drifted") {
			f.drift(path)
		}
		if rapid.Bool().Draw(r, "pending") {
			f.db.PendingModifiedValues = &rdstypes.PendingModifiedValues{
				DBInstanceClass: aws.String(rapid.SampledFrom([]string{"db.t4g.micro", "db.x"}).Draw(
					r, "pending class")), Iops: aws.Int32(rapid.Int32Range(4000, 4002).Draw(r, "pending iops")),
			}
		}
		if rapid.Bool().Draw(r, "not declared any more") {
			id := obj.Spec.DBInstanceIdentifier
			obj.Spec = object().Spec
			obj.Spec.DBInstanceIdentifier = id
		}
		obj.Spec.ApplyImmediately, obj.Generation = rapid.Bool().Draw(r, "at once"), 2
		if rapid.Bool().Draw(r, "tags") {
			maps.Copy(f.tags, map[string]string{"team": "other", "portico.dev/uid": "older"})
		}
		if rapid.Bool().Draw(r, "rotation") {
			rotate(obj, "1")
		}
		settled(r, f, v, obj)
		writes, before := f.writes, obj.DeepCopy()
		settled(r, f, v, obj)
		if f.writes != writes {
			r.Fatalf("a second pass wrote %d times", f.writes-writes)
		}
		if !maps.Equal(before.Status.PendingModifiedValues, obj.Status.PendingModifiedValues) ||
			before.Status.Conditions[0] != obj.Status.Conditions[0] {
			r.Fatalf("a second pass changed the status")
		}
	})
}
