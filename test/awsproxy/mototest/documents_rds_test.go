//go:build integration

package mototest_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
)

// TestTheDocumentOfDatabasesKeepsNamespacesApart must pass whether or not the tags that RDS copies to a final snapshot
// count as the request's.
func TestTheDocumentOfDatabasesKeepsNamespacesApart(t *testing.T) {
	for name, count := range map[string]bool{"copied tags count": true, "copied tags do not count": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.CountCopiedTags(count)
			keepsDatabasesApart(t, w)
		})
	}
}

func keepsDatabasesApart(t *testing.T, w *world) {
	t.Helper()
	pay, search := rds.NewFromConfig(namespaceOf(t, w, "pay", "rdsinstance")),
		rds.NewFromConfig(namespaceOf(t, w, "search", "rdsinstance"))
	tags := func(namespace string) []rdstypes.Tag {
		return tagsAs(namespace, func(key, value *string) rdstypes.Tag { return rdstypes.Tag{Key: key, Value: value} })
	}
	name := unique(t)
	input := func(name, namespace string) *rds.CreateDBInstanceInput {
		return &rds.CreateDBInstanceInput{
			DBInstanceIdentifier: &name, Engine: aws.String("postgres"), DBInstanceClass: aws.String("db.t4g.micro"),
			AllocatedStorage: aws.Int32(20),
			MasterUsername:   aws.String("owner"), MasterUserPassword: aws.String("long-enough"), Tags: tags(namespace),
			CopyTagsToSnapshot: aws.Bool(true),
		}
	}
	made, err := pay.CreateDBInstance(t.Context(), input(name, "pay"))
	must(t, err)
	arn := made.DBInstance.DBInstanceArn
	final := &rds.DeleteDBInstanceInput{DBInstanceIdentifier: &name, FinalDBSnapshotIdentifier: aws.String(
		name + "-final")}
	refusesAll(t, map[string]func() error{
		"in another's name": func() error {
			return failed(search.CreateDBInstance(t.Context(), input(name+"-2", "pay")))
		},
		"modify": func() error {
			return failed(search.ModifyDBInstance(t.Context(), &rds.ModifyDBInstanceInput{DBInstanceIdentifier: &name}))
		},
		"tag": func() error {
			return failed(search.AddTagsToResource(t.Context(), &rds.AddTagsToResourceInput{
				ResourceName: arn, Tags: tags("search"),
			}))
		},
		"untag": func() error {
			return failed(search.RemoveTagsFromResource(t.Context(), &rds.RemoveTagsFromResourceInput{
				ResourceName: arn, TagKeys: []string{"portico.dev/namespace"},
			}))
		},
		"delete": func() error { return failed(search.DeleteDBInstance(t.Context(), final)) },
	})
	_, err = pay.DeleteDBInstance(t.Context(), final)
	must(t, err)
	restore := func(namespace string) *rds.RestoreDBInstanceFromDBSnapshotInput {
		return &rds.RestoreDBInstanceFromDBSnapshotInput{
			DBInstanceIdentifier: aws.String(name + "-3"),
			DBSnapshotIdentifier: aws.String(name + "-final"), Tags: tags(namespace),
		}
	}
	snapshot := strings.Replace(*arn, ":db:"+name, ":snapshot:"+name+"-final", 1)
	refusesAll(t, map[string]func() error{
		"restore": func() error {
			return failed(search.RestoreDBInstanceFromDBSnapshot(t.Context(), restore("search")))
		},
		"take the snapshot": func() error {
			return failed(search.AddTagsToResource(t.Context(), &rds.AddTagsToResourceInput{
				ResourceName: &snapshot, Tags: tags("search"),
			}))
		},
		"offer it to itself": func() error {
			offer := []rdstypes.Tag{{Key: aws.String("portico.dev/adopt"), Value: aws.String("search/x")}}
			return failed(search.AddTagsToResource(t.Context(), &rds.AddTagsToResourceInput{
				ResourceName: &snapshot, Tags: offer,
			}))
		},
	})
	_, err = pay.RestoreDBInstanceFromDBSnapshot(t.Context(), restore("pay"))
	must(t, err)
}
