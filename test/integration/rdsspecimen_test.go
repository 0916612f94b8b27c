//go:build integration

package integration

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// databaseOf returns a small database with a generated identifier.
func databaseOf(ns, name string, change ...func(*v1alpha1.RDSInstanceSpec)) *v1alpha1.RDSInstance {
	i := &v1alpha1.RDSInstance{
		ObjectMeta: meta1(ns, name),
		Spec: v1alpha1.RDSInstanceSpec{
			AWSSpec: sampleProvider(),
			Engine:  "postgres", EngineVersion: "16", DBInstanceClass: "db.t4g.micro", AllocatedStorage: 20,
			MasterUsername: "owner", DBName: "ledger",
		},
	}
	for _, c := range change {
		c(&i.Spec)
	}
	return i
}

func outsideRDS(t *testing.T) *rds.Client {
	t.Helper()
	return rds.NewFromConfig(outsideConfig(t, "test"))
}

// inRDS returns the instance in AWS, or nil if it does not exist.
func inRDS(t *testing.T, i *v1alpha1.RDSInstance) *rdstypes.DBInstance {
	t.Helper()
	out, err := outsideRDS(t).DescribeDBInstances(t.Context(), &rds.DescribeDBInstancesInput{
		DBInstanceIdentifier: &i.Status.DBInstanceIdentifier,
	})
	if err != nil && strings.Contains(err.Error(), "DBInstanceNotFound") {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return &out.DBInstances[0]
}

var databases = register(specimen{
	kind: "RDSInstance", service: "rds", stateful: true,
	tagging: databaseTagging,
	create:  "CreateDBInstance", update: "ModifyDBInstance", remove: "DeleteDBInstance", list: "DescribeDBInstances",
	page: 20, rest: []string{"DescribeDBInstances"},
	object: func(ns, name string) external.Object {
		i := databaseOf(ns, name)
		i.Spec.SkipFinalSnapshot, i.Spec.EngineVersion, i.Spec.DBName = true, "", ""
		return i
	},
	declare: func(o external.Object) {
		s := &o.(*v1alpha1.RDSInstance).Spec
		s.BackupRetentionPeriod, s.Tags = aws.Int32(7), ours
	},
	holds: func(t *testing.T, o external.Object) bool {
		t.Helper()
		db := inRDS(t, o.(*v1alpha1.RDSInstance))
		return db != nil && aws.ToInt32(db.BackupRetentionPeriod) == 7
	},
	spoil: func(t *testing.T, o external.Object) error {
		t.Helper()
		_, err := outsideRDS(t).ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
			DBInstanceIdentifier:  &o.(*v1alpha1.RDSInstance).Status.DBInstanceIdentifier,
			BackupRetentionPeriod: aws.Int32(1),
		})
		return err
	},
	destroy: func(t *testing.T, o external.Object) error {
		t.Helper()
		_, err := outsideRDS(t).DeleteDBInstance(t.Context(), &rds.DeleteDBInstanceInput{
			DBInstanceIdentifier: &o.(*v1alpha1.RDSInstance).Status.DBInstanceIdentifier,
			SkipFinalSnapshot:    aws.Bool(true),
		})
		return err
	},
	owned: func(t *testing.T, uid string) []string {
		t.Helper()
		var all []string
		pages := rds.NewDescribeDBInstancesPaginator(outsideRDS(t), &rds.DescribeDBInstancesInput{})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, db := range page.DBInstances {
				for _, tag := range db.TagList {
					if *tag.Key == "portico.dev/uid" && *tag.Value == uid {
						all = append(all, *db.DBInstanceIdentifier)
					}
				}
			}
		}
		return all
	},
	astray: []wrong{
		{"dbParameterGroupName", `{"dbParameterGroupName":"nowhere"}`, "ReferenceNotAllowed", true},
		{"dbSubnetGroupName", `{"dbSubnetGroupName":"nowhere"}`, "ReferenceNotAllowed", false},
		{"kmsKeyID", `{"kmsKeyID":"` + noKey + `"}`, "ReferenceNotAllowed", false},
		{"masterUserSecretKmsKeyID", `{"manageMasterUserPassword":true,"masterUserSecretKmsKeyID":"alias/nowhere"}`, "ReferenceNotAllowed", false},
		{"masterUserPasswordSecretRef.name", `{"masterUserPasswordSecretRef":{"name":"nowhere","key":"password"}}`, "SecretNotFound", true},
		{"masterUserPasswordSecretRef.key", `{"masterUserPasswordSecretRef":{"name":"there","key":"nowhere"}}`, "SecretKeyNotFound", true},
		{"restoreFrom.snapshotIdentifier", `{"restoreFrom":{"snapshotIdentifier":"nowhere"}}`, "SnapshotNotAllowed", false},
		{"vpcSecurityGroupIDs[]", `{"vpcSecurityGroupIDs":["sg-0123456789abcdef0"]}`, "ReferenceNotAllowed", true},
	},
	plain: []string{
		"dbInstanceClass", "dbName", "engineVersion", "masterUsername",
		"finalSnapshotIdentifier", "enabledCloudwatchLogsExports[]", "preferredBackupWindow",
		"preferredMaintenanceWindow",
	},
})
