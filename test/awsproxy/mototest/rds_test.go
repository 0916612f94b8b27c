//go:build integration

package mototest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/portico-platform/portico/test/awsproxy"
)

func (w *world) rds() *rds.Client { return rds.NewFromConfig(config(w.operator, keyOne, "eu-west-1")) }

func database(name string) *rds.CreateDBInstanceInput {
	return &rds.CreateDBInstanceInput{
		DBInstanceIdentifier: &name, Engine: aws.String("postgres"), EngineVersion: aws.String("16"),
		DBInstanceClass:  aws.String("db.t4g.micro"),
		AllocatedStorage: aws.Int32(20), MasterUsername: aws.String("owner"), MasterUserPassword: aws.String(
			"long-enough"),
		Port: aws.Int32(6432), EnablePerformanceInsights: aws.Bool(true),
	}
}

func look(t *testing.T, c *rds.Client, name string) types.DBInstance {
	t.Helper()
	out, err := c.DescribeDBInstances(t.Context(), &rds.DescribeDBInstancesInput{
		Filters: []types.Filter{{Name: aws.String("db-instance-id"), Values: []string{name}}},
	})
	must(t, err)
	if len(out.DBInstances) != 1 {
		t.Fatalf("%d instances named %s", len(out.DBInstances), name)
	}
	return out.DBInstances[0]
}

func TestChangesOfADatabaseWaitUnlessAtOnce(t *testing.T) {
	c := newWorld(t).rds()
	name := unique(t)
	_, err := c.CreateDBInstance(t.Context(), database(name))
	must(t, err)
	if db := look(t, c, name); *db.EngineVersion != "16.10" || *db.Endpoint.Port != 6432 ||
		!*db.PerformanceInsightsEnabled {
		t.Errorf("created %s on port %d", *db.EngineVersion, *db.Endpoint.Port)
	}
	_, err = c.ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
		DBInstanceIdentifier: &name, DBInstanceClass: aws.String("db.m5.large"), DBPortNumber: aws.Int32(7432),
		EnablePerformanceInsights: aws.Bool(false),
	})
	must(t, err)
	db := look(t, c, name)
	if *db.DBInstanceClass != "db.t4g.micro" || *db.PendingModifiedValues.DBInstanceClass != "db.m5.large" {
		t.Errorf("class %s, pending %+v, port %d", *db.DBInstanceClass, db.PendingModifiedValues, *db.Endpoint.Port)
	}
	if *db.Endpoint.Port != 7432 || *db.PerformanceInsightsEnabled {
		t.Errorf("class %s, pending %+v, port %d", *db.DBInstanceClass, db.PendingModifiedValues, *db.Endpoint.Port)
	}
	_, err = c.ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
		DBInstanceIdentifier: &name, AllocatedStorage: aws.Int32(30), ApplyImmediately: aws.Bool(true),
	})
	must(t, err)
	if db := look(t, c, name); *db.DBInstanceClass != "db.m5.large" || *db.AllocatedStorage != 30 ||
		db.PendingModifiedValues.DBInstanceClass != nil {
		t.Errorf("at once: class %s, %d GiB, pending %+v", *db.DBInstanceClass, *db.AllocatedStorage,
			db.PendingModifiedValues)
	}
	_, err = c.ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
		DBInstanceIdentifier: &name, AllocatedStorage: aws.Int32(20), ApplyImmediately: aws.Bool(true),
	})
	wantCode(t, err, "InvalidParameterCombination")
	_, err = c.ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
		DBInstanceIdentifier: &name, MasterUserPassword: aws.String("p@ssword-1"),
	})
	wantCode(t, err, "InvalidParameterValue")
}

func TestStorageIsNotChangedAgainForHours(t *testing.T) {
	w := newWorld(t)
	c := w.rds()
	name := unique(t)
	_, err := c.CreateDBInstance(t.Context(), database(name))
	must(t, err)
	change := func(in rds.ModifyDBInstanceInput) error {
		in.DBInstanceIdentifier, in.ApplyImmediately = &name, aws.Bool(true)
		_, err := c.ModifyDBInstance(t.Context(), &in)
		return err
	}
	must(t, change(rds.ModifyDBInstanceInput{AllocatedStorage: aws.Int32(100)}))
	if db := look(t, c, name); *db.DBInstanceStatus != "available" || *db.AllocatedStorage != 100 {
		t.Errorf("%s with %d GiB", *db.DBInstanceStatus, *db.AllocatedStorage)
	}
	for _, in := range []rds.ModifyDBInstanceInput{
		{AllocatedStorage: aws.Int32(140)}, {StorageType: aws.String("io1"), Iops: aws.Int32(3000)}, {AllocatedStorage: aws.Int32(140), BackupRetentionPeriod: aws.Int32(9)},
	} {
		err := change(in)
		if wantCode(t, err, "InvalidParameterCombination"); !strings.Contains(
			err.Error(), "previous storage change is being optimized") {
			t.Errorf("refused with %v", err)
		}
	}
	must(t, change(rds.ModifyDBInstanceInput{AllocatedStorage: aws.Int32(100), BackupRetentionPeriod: aws.Int32(9)}))
	w.SetStorageCooldown(0)
	must(t, change(rds.ModifyDBInstanceInput{AllocatedStorage: aws.Int32(140)}))
}

func TestExtendedSupportIsOnUnlessOneSaysOtherwise(t *testing.T) {
	const on, off = "open-source-rds-extended-support", "open-source-rds-extended-support-disabled"
	c := newWorld(t).rds()
	for said, want := range map[string]string{"": on, on: on, off: off} {
		name := unique(t)
		in := database(name)
		if said != "" {
			in.EngineLifecycleSupport = &said
		}
		_, err := c.CreateDBInstance(t.Context(), in)
		must(t, err)
		if db := look(t, c, name); aws.ToString(db.EngineLifecycleSupport) != want {
			t.Errorf("asked for %q, got %s", said, aws.ToString(db.EngineLifecycleSupport))
		}
		_, err = c.ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
			DBInstanceIdentifier: &name, EngineLifecycleSupport: aws.String(off),
		})
		must(t, err)
		if db := look(t, c, name); aws.ToString(db.EngineLifecycleSupport) != off {
			t.Errorf("changed to %s", aws.ToString(db.EngineLifecycleSupport))
		}
	}
	other := database(unique(t))
	other.Engine, other.EngineVersion, other.EngineLifecycleSupport = aws.String("mariadb"), nil, aws.String(off)
	_, err := c.CreateDBInstance(t.Context(), other)
	wantCode(t, err, "InvalidParameterCombination")
	other.EngineLifecycleSupport = nil
	_, err = c.CreateDBInstance(t.Context(), other)
	must(t, err)
	if db := look(t, c, *other.DBInstanceIdentifier); db.EngineLifecycleSupport != nil {
		t.Errorf("MariaDB has %s", *db.EngineLifecycleSupport)
	}
}

func TestAFilterMayTakeFewIdentifiers(t *testing.T) {
	w := newWorld(t)
	c := w.rds()
	w.SetDatabaseFilterLimit(2)
	ask := func(ids ...string) error {
		_, err := c.DescribeDBInstances(t.Context(), &rds.DescribeDBInstancesInput{
			Filters: []types.Filter{{Name: aws.String("db-instance-id"), Values: ids}},
		})
		return err
	}
	must(t, ask("a", "b"))
	wantCode(t, ask("a", "b", "c"), "InvalidParameterValue")
	w.SetDatabaseFilterLimit(0)
	must(t, ask("a", "b", "c"))
}

func TestTagsMayBeLeftOutOfADescription(t *testing.T) {
	w := newWorld(t)
	c := w.rds()
	name := unique(t)
	in := database(name)
	in.Tags = []types.Tag{{Key: aws.String("team"), Value: aws.String("payments")}}
	_, err := c.CreateDBInstance(t.Context(), in)
	must(t, err)
	w.HideDatabaseTags(true)
	db := look(t, c, name)
	if db.TagList != nil {
		t.Errorf("shown with %v", db.TagList)
	}
	out, err := c.ListTagsForResource(t.Context(), &rds.ListTagsForResourceInput{ResourceName: db.DBInstanceArn})
	must(t, err)
	if len(out.TagList) != 1 || *out.TagList[0].Value != "payments" {
		t.Errorf("listed with %v", out.TagList)
	}
	w.HideDatabaseTags(false)
	if db := look(t, c, name); len(db.TagList) != 1 {
		t.Errorf("shown again with %v", db.TagList)
	}
}

func TestADatabaseTakesItsTimeToCreate(t *testing.T) {
	later := time.Duration(0)
	c := newWorld(t, func(o *awsproxy.Options) {
		o.TimeScale = 1
		o.Now = standing(&later)
	}).rds()
	name := unique(t)
	_, err := c.CreateDBInstance(t.Context(), database(name))
	must(t, err)
	if db := look(t, c, name); *db.DBInstanceStatus != "creating" || db.Endpoint != nil {
		t.Errorf("a new instance is %s", *db.DBInstanceStatus)
	}
	_, err = c.DeleteDBInstance(t.Context(), &rds.DeleteDBInstanceInput{
		DBInstanceIdentifier: &name, SkipFinalSnapshot: aws.Bool(true),
	})
	wantCode(t, err, "InvalidDBInstanceState")
	later = 2 * time.Minute
	if db := look(t, c, name); *db.DBInstanceStatus != "available" || db.Endpoint == nil {
		t.Errorf("afterwards it is %s", *db.DBInstanceStatus)
	}
}

func TestADeletionSaysWhatBecomesOfTheData(t *testing.T) {
	c := newWorld(t).rds()
	name := unique(t)
	in := database(name)
	in.DeletionProtection, in.CopyTagsToSnapshot, in.Tags = aws.Bool(true), aws.Bool(true),
		[]types.Tag{{Key: aws.String("team"), Value: aws.String("payments")}}
	_, err := c.CreateDBInstance(t.Context(), in)
	must(t, err)
	final := aws.String(name + "-final")
	_, err = c.DeleteDBInstance(t.Context(), &rds.DeleteDBInstanceInput{
		DBInstanceIdentifier: &name, FinalDBSnapshotIdentifier: final,
	})
	wantCode(t, err, "InvalidParameterCombination")
	_, err = c.ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
		DBInstanceIdentifier: &name, DeletionProtection: aws.Bool(false),
	})
	must(t, err)
	_, err = c.DeleteDBInstance(t.Context(), &rds.DeleteDBInstanceInput{DBInstanceIdentifier: &name})
	wantCode(t, err, "InvalidParameterCombination")
	_, err = c.DeleteDBInstance(t.Context(), &rds.DeleteDBInstanceInput{
		DBInstanceIdentifier: &name, FinalDBSnapshotIdentifier: final, SkipFinalSnapshot: aws.Bool(true),
	})
	wantCode(t, err, "InvalidParameterCombination")
	_, err = c.DeleteDBInstance(t.Context(), &rds.DeleteDBInstanceInput{
		DBInstanceIdentifier: &name, FinalDBSnapshotIdentifier: final,
	})
	must(t, err)
	out, err := c.DescribeDBSnapshots(t.Context(), &rds.DescribeDBSnapshotsInput{DBSnapshotIdentifier: final})
	must(t, err)
	if tags := out.DBSnapshots[0].TagList; len(tags) != 1 || *tags[0].Value != "payments" {
		t.Errorf("the snapshot has the tags %v", tags)
	}
	_, err = c.CreateDBInstance(t.Context(), &rds.CreateDBInstanceInput{
		DBInstanceIdentifier: &name, Engine: aws.String("mariadb"), DBInstanceClass: aws.String("db.t4g.micro"),
		AllocatedStorage: aws.Int32(20), MasterUsername: aws.String("owner"),
	})
	wantCode(t, err, "InvalidParameterCombination")
}
