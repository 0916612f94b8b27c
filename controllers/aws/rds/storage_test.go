package rds

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// RDS changes storage with provisioned operations only in a call that names them, declared or not.
func TestGrowingStorageNamesWhatItHas(t *testing.T) {
	for name, row := range map[string]struct {
		engine, storageType    string
		from, to, iops, mibs   int32
		declared, pending      *int32
		wantIops, wantThrouput int32
	}{
		"io1":                       {engine: "postgres", storageType: "io1", from: 100, to: 200, iops: 3300, wantIops: 3300},
		"io2, declared":             {engine: "postgres", storageType: "io2", from: 100, to: 200, iops: 3000, declared: aws.Int32(5000), wantIops: 5000},
		"io1, some pending":         {engine: "mysql", storageType: "io1", from: 100, to: 200, iops: 3000, pending: aws.Int32(4000), wantIops: 4000},
		"gp3":                       {engine: "mariadb", storageType: "gp3", from: 400, to: 500, iops: 14000, mibs: 600, wantIops: 14000, wantThrouput: 600},
		"gp3, small":                {engine: "postgres", storageType: "gp3", from: 100, to: 399, iops: 3000, mibs: 125},
		"gp3, from small to large":  {engine: "postgres", storageType: "gp3", from: 100, to: 400, iops: 3000, mibs: 125, wantIops: 12000, wantThrouput: 500},
		"gp3 of Oracle":             {engine: "oracle-se2", storageType: "gp3", from: 200, to: 300, iops: 12000, mibs: 500, wantIops: 12000, wantThrouput: 500},
		"gp3 of Oracle, small":      {engine: "oracle-se2", storageType: "gp3", from: 100, to: 199, iops: 3000, mibs: 125},
		"gp3 of SQL Server":         {engine: "sqlserver-se", storageType: "gp3", from: 20, to: 30, iops: 3000, mibs: 125, wantIops: 3000, wantThrouput: 125},
		"gp2, which has none":       {engine: "postgres", storageType: "gp2", from: 100, to: 900, iops: 300},
		"gp3, none shown, at large": {engine: "postgres", storageType: "gp3", from: 500, to: 900, wantIops: 12000, wantThrouput: 500},
	} {
		obj := object(func(i *v1alpha1.RDSInstance) {
			i.Spec.Engine, i.Spec.AllocatedStorage, i.Spec.IOPS = row.engine, row.to, row.declared
		})
		seen := stateOf(&rdstypes.DBInstance{
			DBInstanceIdentifier: aws.String("db"), StorageType: &row.storageType, AllocatedStorage: &row.from,
			Iops: &row.iops, StorageThroughput: &row.mibs,
			DBInstanceClass: aws.String("db.t4g.micro"), PendingModifiedValues: &rdstypes.PendingModifiedValues{
				Iops: row.pending,
			},
		})
		changes, _ := differences(obj, &seen, false)
		in := modification(obj, &seen, changes)
		if aws.ToInt32(in.AllocatedStorage) != row.to || aws.ToInt32(in.Iops) != row.wantIops ||
			aws.ToInt32(in.StorageThroughput) != row.wantThrouput {
			t.Errorf("%s: asked for %d GiB, %d IOPS, %d MiB/s", name, aws.ToInt32(in.AllocatedStorage),
				aws.ToInt32(in.Iops), aws.ToInt32(in.StorageThroughput))
		}
	}
}

func TestStorageWithUndeclaredOperationsGrows(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	f.db.StorageType, f.db.Iops = aws.String("io1"), aws.Int32(3300)
	obj.Spec.AllocatedStorage, obj.Spec.ApplyImmediately, obj.Generation = 200, true, 2
	if settled(t, f, v, obj); *f.db.AllocatedStorage != 200 || *f.db.Iops != 3300 {
		t.Errorf("%d GiB, %d IOPS", *f.db.AllocatedStorage, *f.db.Iops)
	}
}

func TestOperationsThatRDSRoundsUpAreNoDrift(t *testing.T) {
	for _, row := range []struct {
		have, want string
		same       bool
	}{
		{"3300", "3100", true},
		{"3100", "3100", true},
		{"3410", "3100", true},
		{"3411", "3100", false},
		{"3099", "3100", false},
		{"256000", "233000", true},
		{"", "3000", false},
	} {
		if got := roundedUp(row.have, row.want); got != row.same {
			t.Errorf("%+v: same %v", row, got)
		}
	}
	f, v, obj := &fakeRDS{}, &fakeVault{}, object(full)
	settled(t, f, v, obj)
	f.db.Iops = aws.Int32(4400)
	writes := f.writes
	if settled(t, f, v, obj); f.writes != writes {
		t.Errorf("fought by %+v", f.modified)
	}
}

func TestStorageIsLeftAloneWhileItIsOptimized(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	f.db.DBInstanceStatus = aws.String("storage-optimization")
	obj.Spec.AllocatedStorage, obj.Spec.BackupRetentionPeriod, obj.Generation = 50, aws.Int32(9), 2
	if _, _, err := pass(t, f, v, obj); paused(err) != "StorageOptimizing" || *f.db.BackupRetentionPeriod != 9 ||
		f.modified.AllocatedStorage != nil {
		t.Errorf("%v; sent %+v", err, f.modified)
	}
	writes := f.writes
	if _, _, err := pass(t, f, v, obj); paused(err) != "StorageOptimizing" || f.writes != writes {
		t.Errorf("again: %v", err)
	}
	f.db.DBInstanceStatus = aws.String("available")
	if settled(t, f, v, obj); *f.modified.AllocatedStorage != 50 {
		t.Error("the storage does not grow afterwards")
	}
}

func TestStorageThatCannotShrinkIsTold(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object(func(i *v1alpha1.RDSInstance) { i.Spec.AllocatedStorage = 100 })
	told := func() string {
		settled(t, f, v, obj)
		return meta.FindStatusCondition(obj.Status.Conditions, v1alpha1.ConditionChangesApplied).Message
	}
	if strings.Contains(told(), "shrink") {
		t.Error("told of storage as it was asked for")
	}
	writes := f.writes
	obj.Spec.AllocatedStorage, obj.Generation = 50, 2
	if message := told(); !strings.Contains(message, "stays at 100 GiB") ||
		!strings.Contains(message, "cannot shrink") || f.writes != writes {
		t.Errorf("%d writes, %q", f.writes-writes, message)
	}
	obj.Spec.MaxAllocatedStorage, obj.Generation = aws.Int32(500), 3
	if strings.Contains(told(), "shrink") {
		t.Error("told of what AWS may have added")
	}
}
