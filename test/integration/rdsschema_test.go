//go:build integration

package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Every rule of the schema refuses with a helpful message, at the field concerned.
func TestTheSchemaRefusesBadDatabases(t *testing.T) {
	c := admin(t)
	type spec = v1alpha1.RDSInstanceSpec
	identifier := func(name string) func(*spec) { return func(s *spec) { s.DBInstanceIdentifier = name } }
	engine := func(name, user string) func(*spec) {
		return func(s *spec) { s.Engine, s.MasterUsername, s.DBName = name, user, "" }
	}
	for _, x := range []struct {
		reason string
		change func(*spec)
		field  string
		says   string
	}{
		{"starts with a digit", identifier("1st"), "spec.dbInstanceIdentifier", "begin with a letter"},
		{"two hyphens", identifier("a--b"), "spec.dbInstanceIdentifier", "single hyphens"},
		{"ends with a hyphen", identifier("a-"), "spec.dbInstanceIdentifier", "hyphen"},
		{"Aurora", engine("aurora-postgresql", "owner"), "spec.engine", "postgres"},
		{"no version", func(s *spec) { s.EngineVersion = "latest" }, "spec.engineVersion", "16.4"},
		{"no class", func(s *spec) { s.DBInstanceClass = "t4g.micro" }, "spec.dbInstanceClass", "db.t4g.micro"},
		{"little storage", func(s *spec) { s.AllocatedStorage = 5 }, "spec.allocatedStorage", "20"},
		{"less autoscaling", func(s *spec) { s.AllocatedStorage, s.MaxAllocatedStorage = 50, aws.Int32(40) }, "spec", "maxAllocatedStorage must not be less"},
		{"Extended Support of MariaDB", func(s *spec) { s.Engine, s.EngineLifecycleSupport = "mariadb", "open-source-rds-extended-support" }, "spec", "only MySQL and PostgreSQL"},
		{"a license of PostgreSQL", func(s *spec) { s.LicenseModel = "license-included" }, "spec", "only oracle-se2 has a choice"},
		{"AWS's license of the Enterprise Edition", func(s *spec) { engine("oracle-ee", "owner")(s); s.LicenseModel = "license-included" }, "spec", "oracle-ee needs a license of one's own"},
		{"io1 without iops", func(s *spec) { s.StorageType = "io1" }, "spec", "need iops"},
		{"iops of gp2", func(s *spec) { s.StorageType, s.IOPS = "gp2", aws.Int32(3000) }, "spec", "have no operations to provision"},
		{"throughput of gp2", func(s *spec) { s.StorageType, s.StorageThroughput = "gp2", aws.Int32(125) }, "spec", "storageType: gp3"},
		{"rdsadmin", engine("mysql", "rdsadmin"), "spec", "keeps this user name"},
		{"admin of PostgreSQL", engine("postgres", "Admin"), "spec", "reserved word of PostgreSQL"},
		{"sa", engine("sqlserver-ex", "sa"), "spec", "reserved by SQL Server"},
		{"sys", engine("oracle-se2", "SYS"), "spec", "reserved by Oracle"},
		{"long name of MySQL", engine("mysql", "a1234567890123456"), "spec", "16 characters"},
		{"long name of Oracle", engine("oracle-ee", "a123456789012345678901234567890"), "spec", "30 characters"},
		{"user name with a hyphen", engine("postgres", "my-owner"), "spec.masterUsername", "underscores"},
		{"two passwords", func(s *spec) {
			s.ManageMasterUserPassword, s.MasterUserPasswordSecretRef = true, &v1alpha1.SecretKeyRef{
				Name: "n", Key: "k",
			}
		}, "spec", "choose one source"},
		{"key of no secret", func(s *spec) { s.MasterUserSecretKmsKeyID = "alias/x" }, "spec", "needs manageMasterUserPassword"},
		{"dbName with a hyphen", func(s *spec) { s.DBName = "my-ledger" }, "spec.dbName", "underscores"},
		{"dbName of SQL Server", func(s *spec) { s.Engine = "sqlserver-ex" }, "spec", "SQL Server has no dbName"},
		{"long SID", func(s *spec) { s.Engine, s.DBName = "oracle-ee", "ninechars" }, "spec", "at most 8"},
		{"low port", func(s *spec) { s.Port = aws.Int32(1000) }, "spec.port", "1150"},
		{"no security group", func(s *spec) { s.VPCSecurityGroupIDs = []string{"default"} }, "spec.vpcSecurityGroupIDs[0]", "should match"},
		{"key without encryption", func(s *spec) { s.KMSKeyID, s.StorageEncrypted = "alias/x", aws.Bool(false) }, "spec", "needs encryption"},
		{"backups for long", func(s *spec) { s.BackupRetentionPeriod = aws.Int32(36) }, "spec.backupRetentionPeriod", "35"},
		{"no window", func(s *spec) { s.PreferredBackupWindow = "24:00-25:00" }, "spec.preferredBackupWindow", "02:00-02:30"},
		{"no day", func(s *spec) { s.PreferredMaintenanceWindow = "03:00-03:30" }, "spec.preferredMaintenanceWindow", "sun:03:00"},
		{"name of a restored database", func(s *spec) { s.RestoreFrom = &v1alpha1.RDSRestoreFrom{SnapshotIdentifier: "x"} }, "spec", "come from the snapshot"},
		{"snapshot name", func(s *spec) { s.FinalSnapshotIdentifier = "rds:x" }, "spec.finalSnapshotIdentifier", "hyphens"},
		{"stopping", func(s *spec) { s.DeletionPolicy = "Stop" }, "spec.deletionPolicy", "Retain"},
	} {
		t.Run(x.reason, func(t *testing.T) {
			assertRefused(t, c.Create(t.Context(), databaseOf("default", "bad", x.change), client.DryRunAll), x.field,
				x.says)
		})
	}
	for name, change := range map[string]func(*spec){
		"minimal": func(s *spec) { s.EngineVersion, s.DBName = "", "" }, "an empty window": func(s *spec) {
			s.PreferredMaintenanceWindow = ""
		},
		"Oracle": func(s *spec) {
			s.Engine, s.EngineVersion = "oracle-ee", "19.0.0.0.ru-2024-01.rur-2024-01.r1"
		},
		"admin of MySQL":       engine("mysql", "admin"),
		"a window in capitals": func(s *spec) { s.PreferredMaintenanceWindow = "Sun:03:00-Sun:03:30" },
	} {
		if err := c.Create(t.Context(), databaseOf("default", "good", change), client.DryRunAll); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatCannotChangeOfADatabaseIsRefused(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	full := func(s *v1alpha1.RDSInstanceSpec) {
		s.DBInstanceIdentifier, s.KMSKeyID, s.DBSubnetGroupName, s.ManageMasterUserPassword,
			s.AllocatedStorage = "ledger", "alias/x", "here", true, 50
	}
	fixed := databaseOf(ns, "fixed", full)
	loose := databaseOf(ns, "loose")
	for _, i := range []*v1alpha1.RDSInstance{fixed, loose} {
		i.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
		create(t, c, i)
	}
	rows := []struct {
		from   *v1alpha1.RDSInstance
		field  string
		says   string
		change func(*v1alpha1.RDSInstanceSpec)
	}{
		{fixed, "spec.dbInstanceIdentifier", "immutable", func(s *v1alpha1.RDSInstanceSpec) { s.DBInstanceIdentifier = "other" }},
		{fixed, "spec.dbInstanceIdentifier", "dbInstanceIdentifier is immutable", func(s *v1alpha1.RDSInstanceSpec) { s.DBInstanceIdentifier = "" }},
		{fixed, "spec.engine", "immutable", func(s *v1alpha1.RDSInstanceSpec) { s.Engine = "mysql" }},
		{fixed, "spec.masterUsername", "immutable", func(s *v1alpha1.RDSInstanceSpec) { s.MasterUsername = "other" }},
		{fixed, "spec.dbName", "immutable", func(s *v1alpha1.RDSInstanceSpec) { s.DBName = "other" }},
		{fixed, "spec.kmsKeyID", "immutable", func(s *v1alpha1.RDSInstanceSpec) { s.KMSKeyID = "alias/y" }},
		{fixed, "spec.dbSubnetGroupName", "immutable", func(s *v1alpha1.RDSInstanceSpec) { s.DBSubnetGroupName = "there" }},
		{fixed, "spec.allocatedStorage", "cannot shrink", func(s *v1alpha1.RDSInstanceSpec) { s.AllocatedStorage = 40 }},
		{fixed, "spec", "while RDS manages the password", func(s *v1alpha1.RDSInstanceSpec) { s.MasterUserSecretKmsKeyID = "alias/z" }},
		{loose, "spec.dbName", "dbName is immutable", func(s *v1alpha1.RDSInstanceSpec) { s.DBName = "" }},
		{loose, "spec.kmsKeyID", "kmsKeyID is immutable", func(s *v1alpha1.RDSInstanceSpec) { s.KMSKeyID = "alias/x" }},
		{loose, "spec.dbSubnetGroupName", "dbSubnetGroupName is immutable", func(s *v1alpha1.RDSInstanceSpec) { s.DBSubnetGroupName = "here" }},
		{loose, "spec.storageEncrypted", "storageEncrypted is immutable", func(s *v1alpha1.RDSInstanceSpec) { s.StorageEncrypted = aws.Bool(false) }},
		{loose, "spec.restoreFrom", "restoreFrom is immutable", func(s *v1alpha1.RDSInstanceSpec) {
			s.DBName, s.RestoreFrom = "", &v1alpha1.RDSRestoreFrom{SnapshotIdentifier: "x"}
		}},
	}
	for _, x := range rows {
		if !strings.Contains(x.says, "immutable") {
			continue
		}
		changed := x.from.DeepCopy()
		x.change(&changed.Spec)
		if err := c.Update(t.Context(), changed, client.DryRunAll); err != nil {
			t.Errorf("%s, before anything was created: %v", x.field, err)
		}
	}
	fixed.Status.AllocatedStorage, fixed.Status.ARN = 50, "arn:aws:rds:eu-west-1:123456789012:db:ledger"
	loose.Status.LastSyncTime = &metav1.Time{Time: time.Now()} // its creation is under way
	for _, i := range []*v1alpha1.RDSInstance{fixed, loose} {
		i.Status.AccountID = "123456789012"
		if err := c.Status().Update(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range rows {
		changed := x.from.DeepCopy()
		x.change(&changed.Spec)
		assertRefused(t, c.Update(t.Context(), changed, client.DryRunAll), x.field, x.says)
	}
	never := databaseOf(ns, "never", func(s *v1alpha1.RDSInstanceSpec) { s.AllocatedStorage = 6000 })
	never.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	create(t, c, never)
	never.Spec.AllocatedStorage = 60
	if err := c.Update(t.Context(), never, client.DryRunAll); err != nil {
		t.Errorf("a size that AWS never took cannot be corrected: %v", err)
	}
	said := loose.DeepCopy()
	said.Spec.StorageEncrypted = aws.Bool(true)
	if err := c.Update(t.Context(), said, client.DryRunAll); err != nil {
		t.Errorf("to say what holds already is refused: %v", err)
	}
}

// TestLimitsOfStorageGoByWhatThereIs: AWS may have grown it, and what an edit leaves alone passes then, too.
func TestLimitsOfStorageGoByWhatThereIs(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	stored := func(name, storage string, iops int32, there int32) *v1alpha1.RDSInstance {
		i := databaseOf(ns, name, func(s *v1alpha1.RDSInstanceSpec) {
			s.StorageType, s.AllocatedStorage, s.MaxAllocatedStorage = storage, 100, aws.Int32(5000)
			if iops > 0 {
				s.IOPS = aws.Int32(iops)
			}
		})
		i.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
		create(t, c, i)
		i.Status.AllocatedStorage = there
		if err := c.Status().Update(t.Context(), i); err != nil {
			t.Fatalf("the status of %s: %v", name, err)
		}
		return i
	}
	small, grown := stored("small", "gp3", 0, 100), stored("grown", "gp3", 0, 500)
	large := stored("large", "gp3", 0, 3000)
	slow := stored("slow", "io1", 1000, 3000) // 0.33 operations for each GiB by now
	for _, x := range []struct {
		of         *v1alpha1.RDSInstance
		storage    string
		iops       int32
		says, name string
	}{
		{grown, "gp3", 12000, "", "operations that there are from 400 GiB on"},
		{grown, "gp3", 3000, "at least 12,000 operations", "fewer than there are from 400 GiB on"},
		{small, "gp3", 12000, "remove iops", "operations that there are not below 400 GiB"},
		{grown, "io1", 6000, "", "60 operations for each GiB of the spec"},
		{small, "io1", 6000, "0.5 to 50 operations", "60 operations for each GiB"},
		{large, "io1", 1000, "0.5 to 50 operations", "too few operations for each GiB that is there"},
		{large, "io2", 1000, "0.5 to 1,000 operations", "too few operations of io2 for each GiB that is there"},
		{slow, "io1", 1001, "0.5 to 50 operations", "a change that is still too little"},
		{slow, "io1", 1000, "", "what is left alone"},
	} {
		changed := x.of.DeepCopy()
		changed.Spec.StorageType, changed.Spec.IOPS = x.storage, aws.Int32(x.iops)
		changed.Spec.BackupRetentionPeriod = aws.Int32(2)
		changed.Finalizers = append(changed.Finalizers, "portico.dev/test")
		err := c.Update(t.Context(), changed, client.DryRunAll)
		if refused := err != nil; refused != (x.says != "") || refused && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: got %v, want %q", x.name, err, x.says)
		}
	}
}
