package rds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/deleted"
)

const classField = "dbInstanceClass"

// Deleted finds databases that were kept, and snapshots of those that were not.
var Deleted = deleted.Kind{Types: []string{"rds:db", "rds:snapshot"}, Describe: describeDeleted}

func describeDeleted(ctx context.Context, s *cloud.Session, found []deleted.Found) ([]operatorapi.Deleted, error) {
	databases, snapshots := map[string]deleted.Found{}, map[string]deleted.Found{}
	for _, f := range found {
		switch {
		case strings.Contains(f.ARN, ":db:"):
			databases[f.LastPart(":")] = f
		case strings.Contains(f.ARN, ":snapshot:"): // the names of automated ones begin with rds:
			snapshots[f.ARN] = f
		}
	}
	kept, err := keptDatabases(ctx, s, databases)
	if err != nil {
		return nil, err
	}
	saved, err := savedDatabases(ctx, s, snapshots)
	return append(kept, saved...), err
}

func keptDatabases(ctx context.Context, s *cloud.Session, found map[string]deleted.Found) (
	all []operatorapi.Deleted, err error,
) {
	seen, err := serviceFor(s).readMany(ctx, slices.Sorted(maps.Keys(found)))
	if err != nil {
		return nil, err
	}
	for name, f := range found {
		one, there := seen[name]
		if !there || one.status() == statusDeleting {
			continue
		}
		item := f.Item(name)
		item.Facts = words(one.db.Engine, one.db.EngineVersion, one.db.AllocatedStorage)
		item.Fields = requestOf(one.db.Engine, one.db.MasterUsername, one.db.AllocatedStorage)
		item.Fields[classField] = aws.ToString(one.db.DBInstanceClass)
		if name != generatedIdentifier(s.Identity, &metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name}) {
			item.Fields["dbInstanceIdentifier"] = name
		}
		all = append(all, item)
	}
	return all, nil
}

// savedDatabases returns snapshots that exist until somebody deletes them, with the fields of a new database that
// starts from one.
func savedDatabases(ctx context.Context, s *cloud.Session, found map[string]deleted.Found) (
	all []operatorapi.Deleted, err error,
) {
	if len(found) == 0 {
		return nil, nil
	}
	pages := rds.NewDescribeDBSnapshotsPaginator(serviceFor(s).api, &rds.DescribeDBSnapshotsInput{
		SnapshotType: aws.String("manual"), MaxRecords: aws.Int32(page),
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for i := range out.DBSnapshots {
			if f, ok := found[aws.ToString(out.DBSnapshots[i].DBSnapshotArn)]; ok {
				all = append(all, savedDatabase(f, &out.DBSnapshots[i]))
			}
		}
	}
	return all, nil
}

func savedDatabase(f deleted.Found, snapshot *rdstypes.DBSnapshot) operatorapi.Deleted {
	item := f.Item(aws.ToString(snapshot.DBSnapshotIdentifier))
	item.Snapshot, item.Taken = true, snapshot.SnapshotCreateTime
	item.Facts = words(snapshot.Engine, snapshot.EngineVersion, snapshot.AllocatedStorage)
	item.Fields = requestOf(snapshot.Engine, snapshot.MasterUsername, snapshot.AllocatedStorage)
	item.Fields["restoreFrom.snapshotIdentifier"] = item.ID
	item.Choose = []string{classField}
	return item
}

func requestOf(engine, user *string, storage *int32) map[string]string {
	return map[string]string{
		engineField: aws.ToString(engine), "masterUsername": aws.ToString(user), "allocatedStorage": strconv.Itoa(
			int(aws.ToInt32(storage))),
	}
}

func words(engine, version *string, storage *int32) string {
	return fmt.Sprintf("%s %s, %d GiB", aws.ToString(engine), aws.ToString(version), aws.ToInt32(storage))
}
