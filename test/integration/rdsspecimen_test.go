//go:build integration

package integration

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

var databases = specimen{
	kind: "RDSInstance", service: "rds", stateful: true,
	create: "CreateDBInstance", update: "ModifyDBInstance", remove: "DeleteDBInstance", list: "DescribeDBInstances", page: 20, rest: []string{"DescribeDBInstances"},
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
	spoil: func(t *testing.T, o external.Object) {
		t.Helper()
		_, err := outsideRDS(t).ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{
			DBInstanceIdentifier: &o.(*v1alpha1.RDSInstance).Status.DBInstanceIdentifier, BackupRetentionPeriod: aws.Int32(1),
		})
		if err != nil {
			t.Fatal(err)
		}
	},
	destroy: func(t *testing.T, o external.Object) {
		t.Helper()
		_, err := outsideRDS(t).DeleteDBInstance(t.Context(), &rds.DeleteDBInstanceInput{
			DBInstanceIdentifier: &o.(*v1alpha1.RDSInstance).Status.DBInstanceIdentifier, SkipFinalSnapshot: aws.Bool(true),
		})
		if err != nil {
			t.Fatal(err)
		}
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
}
