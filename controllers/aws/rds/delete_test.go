package rds

import (
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

func TestDeletionKeepsTheData(t *testing.T) {
	for name, row := range map[string]struct {
		change  func(*v1alpha1.RDSInstance, *fakeRDS)
		paused  string
		deleted bool
		kept    string // the snapshot
	}{
		"by default":           {change: func(*v1alpha1.RDSInstance, *fakeRDS) {}, deleted: true, kept: "payments-ledger"},
		"one that was adopted": {change: func(_ *v1alpha1.RDSInstance, f *fakeRDS) { f.db.CopyTagsToSnapshot = nil }, deleted: true, kept: "payments-ledger"},
		"a name of ours":       {change: func(i *v1alpha1.RDSInstance, _ *fakeRDS) { i.Spec.FinalSnapshotIdentifier = "farewell" }, deleted: true, kept: "farewell"},
		"skipped":              {change: func(i *v1alpha1.RDSInstance, _ *fakeRDS) { i.Spec.SkipFinalSnapshot = true }, deleted: true},
		"the name is taken": {change: func(i *v1alpha1.RDSInstance, f *fakeRDS) {
			i.Spec.FinalSnapshotIdentifier = "farewell"
			f.snapshot("farewell", nil)
		}, paused: "FinalSnapshotExists!"},
		"protected":             {change: func(_ *v1alpha1.RDSInstance, f *fakeRDS) { f.db.DeletionProtection = aws.Bool(true) }, paused: "DeletionProtected!"},
		"protected by the spec": {change: func(i *v1alpha1.RDSInstance, f *fakeRDS) { protected(i, f, true) }, paused: "DeletionProtected!"},
		"protection given up":   {change: func(i *v1alpha1.RDSInstance, f *fakeRDS) { protected(i, f, false) }, deleted: true, kept: "payments-ledger"},
		"still creating":        {change: in("creating"), paused: "Creating"},
		"deleting":              {change: in("deleting"), paused: "Deleting"},
		"failed":                {change: in("failed"), paused: "FinalSnapshotImpossible!"},
		"never made":            {change: in("incompatible-create"), paused: "FinalSnapshotImpossible!"},
		"without a machine":     {change: in("insufficient-capacity"), paused: "FinalSnapshotImpossible!"},
		"without its key":       {change: in("inaccessible-encryption-credentials"), paused: "FinalSnapshotImpossible!"},
		"stopped":               {change: in("stopped"), deleted: true, kept: "payments-ledger"},
		"stopped and protected": {change: func(i *v1alpha1.RDSInstance, f *fakeRDS) {
			protected(i, f, false)
			in("stopped")(i, f)
		}, paused: "Stopped!"},
		"stopped, its snapshots without tags": {change: func(i *v1alpha1.RDSInstance, f *fakeRDS) {
			f.db.CopyTagsToSnapshot = nil
			in("stopped")(i, f)
		}, paused: "Stopped!"},
		"failed, and skipped": {change: func(i *v1alpha1.RDSInstance, f *fakeRDS) {
			i.Spec.SkipFinalSnapshot = true
			in("failed")(i, f)
		}, deleted: true},
		"busy": {change: func(_ *v1alpha1.RDSInstance, f *fakeRDS) { f.refuse = code("InvalidDBInstanceState") }, paused: "Busy"},
		"gone": {change: func(_ *v1alpha1.RDSInstance, f *fakeRDS) { f.refuse = errNoInstance }},
	} {
		f, obj := &fakeRDS{}, object()
		settled(t, f, &fakeVault{}, obj)
		a := adapterOf(f, &fakeVault{})
		row.change(obj, f)
		seen := observe(t, a, obj)
		if _, err := a.Delete(t.Context(), obj, seen); paused(err) != row.paused || (err != nil) != (row.paused != "") {
			t.Errorf("%s: %v", name, err)
		}
		if (f.db == nil) != row.deleted {
			t.Errorf("%s: deleted %v", name, f.db == nil)
		}
		if kept := obj.Status.FinalSnapshotIdentifier; row.deleted && !strings.HasPrefix(kept, row.kept) {
			t.Errorf("%s: FinalSnapshotIdentifier = %q, want %q", name, kept, row.kept)
		}
		if row.deleted && row.kept == "" && len(f.snapshots) > 0 {
			t.Errorf("%s: %d snapshots, want none", name, len(f.snapshots))
		}
		if row.kept != "" && tagMap(
			f.snapshots[obj.Status.FinalSnapshotIdentifier].TagList)["portico.dev/name"] != "ledger" {
			t.Errorf("%s: the snapshot has no tags", name)
		}
	}
}

func protected(i *v1alpha1.RDSInstance, f *fakeRDS, by bool) {
	i.Spec.DeletionProtection, f.db.DeletionProtection = aws.Bool(by), aws.Bool(true)
}

func in(status string) func(*v1alpha1.RDSInstance, *fakeRDS) {
	return func(_ *v1alpha1.RDSInstance, f *fakeRDS) { f.db.DBInstanceStatus = aws.String(status) }
}

func TestDeletionTellsWhereTheDataIs(t *testing.T) {
	f, obj := &fakeRDS{deletes: true}, object()
	settled(t, f, &fakeVault{}, obj)
	a := adapterOf(f, &fakeVault{})
	if err := a.remove(t.Context(), obj, observe(t, a, obj)); err != nil {
		t.Fatal(err)
	}
	writes := f.writes
	err := a.remove(t.Context(), obj, observe(t, a, obj))
	if paused(err) != "Deleting" || !strings.Contains(err.Error(), obj.Status.FinalSnapshotIdentifier) ||
		f.writes != writes {
		t.Errorf("%v, %d writes", err, f.writes-writes)
	}
}

func TestOnlyWhatIsKnownIsSaidOfTheData(t *testing.T) {
	f, obj := &fakeRDS{}, object()
	settled(t, f, &fakeVault{}, obj)
	a := adapterOf(f, &fakeVault{})
	seen := observe(t, a, obj)
	f.refuse = code("InvalidDBInstanceState")
	if err := a.remove(t.Context(), obj, seen); err == nil || obj.Status.FinalSnapshotIdentifier != "" {
		t.Errorf("a refused deletion left %q", obj.Status.FinalSnapshotIdentifier)
	}
	f.refuse = nil
	in("deleting")(obj, f)
	if err := a.remove(t.Context(), obj, observe(t, a, obj)); !strings.Contains(err.Error(), "outside Portico") {
		t.Errorf("%v", err)
	}
	f.db.DBInstanceStatus, f.lose = aws.String("available"), true
	if err := a.remove(t.Context(), obj, observe(t, a, obj)); err == nil || obj.Status.FinalSnapshotIdentifier == "" {
		t.Error("a deletion whose reply was lost may have made its snapshot")
	}
	f.lose, f.refuse = false, code("InvalidDBInstanceState") // it has begun, and does not show yet
	if err := a.remove(t.Context(), obj, seen); paused(err) != "Busy" || obj.Status.FinalSnapshotIdentifier == "" {
		t.Errorf("the snapshot of a deletion that has begun is forgotten: %v", err)
	}
}

func restored(i *v1alpha1.RDSInstance) {
	i.Spec.RestoreFrom = &v1alpha1.RDSRestoreFrom{SnapshotIdentifier: "farewell"}
}

func TestOnlySnapshotsOfTheNamespaceAreRestored(t *testing.T) {
	session := adapterOf(&fakeRDS{}, &fakeVault{}).session
	marks := session.Tags(object(func(i *v1alpha1.RDSInstance) { i.Name, i.UID = "older", "another" }), nil)
	with := func(key, value string) map[string]string {
		tags := maps.Clone(marks)
		tags[key] = value
		return tags
	}
	for name, row := range map[string]struct {
		tags   map[string]string
		change func(*rdstypes.DBSnapshot)
		paused string
	}{
		"of another database of the namespace": {tags: marks},
		"offered":                              {tags: map[string]string{"portico.dev/adopt": "payments/ledger"}},
		"offered to another":                   {tags: map[string]string{"portico.dev/adopt": "search/ledger"}, paused: "SnapshotNotAllowed!"},
		"without tags":                         {paused: "SnapshotNotAllowed!"},
		"of another namespace":                 {tags: with("portico.dev/namespace", "search"), paused: "SnapshotNotAllowed!"},
		"of an earlier namespace of that name": {tags: with("portico.dev/namespace-uid", "older"), paused: "SnapshotNotAllowed!"},
		"of another cluster":                   {tags: with("portico.dev/cluster", "other"), paused: "SnapshotNotAllowed!"},
		"of another engine":                    {tags: marks, change: func(s *rdstypes.DBSnapshot) { s.Engine = aws.String("mysql") }, paused: "SnapshotMismatch!"},
		"still being made":                     {tags: marks, change: func(s *rdstypes.DBSnapshot) { s.Status = aws.String("creating") }, paused: "SnapshotCreating"},
	} {
		f := &fakeRDS{}
		s := f.snapshot("farewell", row.tags)
		if row.change != nil {
			row.change(s)
		}
		if _, _, err := pass(t, f, &fakeVault{}, object(restored)); paused(err) != row.paused ||
			(f.db == nil) != (row.paused != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := pass(t, &fakeRDS{}, &fakeVault{}, object(restored)); paused(err) != "SnapshotNotAllowed!" {
		t.Errorf("no snapshot: %v", err)
	}
}

func TestARestoredDatabaseIsBroughtInLine(t *testing.T) {
	f, v := &fakeRDS{}, &fakeVault{}
	obj := object(restored, func(i *v1alpha1.RDSInstance) {
		i.Spec.AllocatedStorage, i.Spec.BackupRetentionPeriod, i.Spec.ApplyImmediately = 50, aws.Int32(9), true
	})
	f.snapshot("farewell", adapterOf(f, v).session.Tags(obj, nil))
	d := settled(t, f, v, obj)
	if *f.db.AllocatedStorage != 50 || *f.db.BackupRetentionPeriod != 9 {
		t.Errorf("%d GiB, %d days, want 50, 9", *f.db.AllocatedStorage, *f.db.BackupRetentionPeriod)
	}
	if f.password == "of the snapshot" || d["password"] != f.password {
		t.Error("the password is that of the snapshot, or not the one in the binding")
	}
	if d["username"] != "then" || d["database"] != "ledger" {
		t.Errorf("binding for %s on %s: they come from the snapshot", d["username"], d["database"])
	}
}

func TestBindings(t *testing.T) {
	for engineName, want := range map[string]string{
		"postgres":     "postgresql://owner:PW@db.example.com:5432/ledger",
		"mysql":        "mysql://owner:PW@db.example.com:3306/ledger",
		"mariadb":      "mysql://owner:PW@db.example.com:3306/ledger",
		"oracle-se2":   "oracle://owner:PW@db.example.com:1521/ledger",
		"sqlserver-ex": "sqlserver://owner:PW@db.example.com:1433?database=ledger",
	} {
		f, v := &fakeRDS{}, &fakeVault{}
		obj := object(fromSecret, func(i *v1alpha1.RDSInstance) { i.Spec.Engine, i.Spec.DBName = engineName, "ledger" })
		d := settled(t, f, v, obj, given("p:w?#%-1234"))
		if d["uri"] != strings.Replace(want, "PW", "p%3Aw%3F%23%25-1234", 1) || d["type"] != family(engineName) ||
			d["password"] != "p:w?#%-1234" {
			t.Errorf("%s: %v", engineName, d)
		}
	}
	if d := settled(t, &fakeRDS{}, &fakeVault{}, object()); d["database"] != "postgres" {
		t.Errorf("a PostgreSQL without dbName: %v", d["database"])
	}
}

func TestAnInstanceMadeInTheMeantimeIsLeftToTheNextLook(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	a := adapterOf(f, v)
	actions, err := a.Plan(obj, nil)
	if err != nil {
		t.Fatal(err)
	}
	settled(t, f, &fakeVault{}, object(func(i *v1alpha1.RDSInstance) { i.Namespace = "payments" }))
	f.tags = map[string]string{"made-by": "hand"}
	if err := actions[0].Do(t.Context()); err != nil || a.Owner(obj, observe(t, a, obj)) != external.Foreign ||
		v.kept["password"] != "" {
		t.Errorf("%v, record with a password: %v", err, v.kept["password"] != "")
	}
}
