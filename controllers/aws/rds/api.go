package rds

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/controllers/cloud"
)

type opt = func(*rds.Options)

// api is all that Portico asks of RDS; docs/iam is checked against it.
type api interface {
	instanceAPI
	snapshotAPI
	tagAPI
}

type instanceAPI interface {
	DescribeDBInstances(context.Context, *rds.DescribeDBInstancesInput, ...opt) (*rds.DescribeDBInstancesOutput, error)
	CreateDBInstance(context.Context, *rds.CreateDBInstanceInput, ...opt) (*rds.CreateDBInstanceOutput, error)
	ModifyDBInstance(context.Context, *rds.ModifyDBInstanceInput, ...opt) (*rds.ModifyDBInstanceOutput, error)
	DeleteDBInstance(context.Context, *rds.DeleteDBInstanceInput, ...opt) (*rds.DeleteDBInstanceOutput, error)
}

type snapshotAPI interface {
	DescribeDBSnapshots(context.Context, *rds.DescribeDBSnapshotsInput, ...opt) (*rds.DescribeDBSnapshotsOutput, error)
	RestoreDBInstanceFromDBSnapshot(context.Context, *rds.RestoreDBInstanceFromDBSnapshotInput, ...opt) (*rds.RestoreDBInstanceFromDBSnapshotOutput, error)
}

type tagAPI interface {
	ListTagsForResource(context.Context, *rds.ListTagsForResourceInput, ...opt) (*rds.ListTagsForResourceOutput, error)
	AddTagsToResource(context.Context, *rds.AddTagsToResourceInput, ...opt) (*rds.AddTagsToResourceOutput, error)
	RemoveTagsFromResource(context.Context, *rds.RemoveTagsFromResourceInput, ...opt) (*rds.RemoveTagsFromResourceOutput, error)
}

var _ api = (*rds.Client)(nil)

// service is what all objects of a session share.
type service struct {
	api
	batch *cloud.Batch[string, instanceState]
	// filterSize is how many identifiers a filter takes, as far as RDS has refused more.
	filterSize atomic.Int32
}

// page is RDS's most: instances in an answer. How many values a filter takes it does not say.
const page = 100

func newService(client api, window time.Duration) *service {
	s := &service{api: client}
	s.filterSize.Store(page)
	s.batch = &cloud.Batch[string, instanceState]{Window: window, Most: page, Read: s.readMany}
	return s
}

func serviceFor(session *cloud.Session) *service {
	return cloud.Shared(session, func() *service {
		return newService(rds.NewFromConfig(session.Config), 20*time.Millisecond)
	})
}

// readMany reads instances by identifier. One that is not in the answer may be there all the same.
func (s *service) readMany(ctx context.Context, identifiers []string) (map[string]instanceState, error) {
	all := map[string]instanceState{}
	for len(identifiers) > 0 {
		size := min(len(identifiers), int(s.filterSize.Load()))
		err := s.pages(ctx, &rds.DescribeDBInstancesInput{
			Filters: []rdstypes.Filter{{Name: aws.String(idFilter), Values: identifiers[:size]}},
		}, func(seen instanceState) { all[seen.identifier()] = seen })
		switch {
		case err == nil:
			identifiers = identifiers[size:]
		case size > 1 && refusesFilter(err):
			s.filterSize.Store(int32(size / 2)) //nolint:gosec // at most a page
		default:
			return all, cloud.Explain(err)
		}
	}
	return all, nil
}

const idFilter = "db-instance-id"

// refusesFilter reports whether RDS takes a filter of identifiers not as it is, which of known identifiers can only be
// their number.
func refusesFilter(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || !cloud.HasCode(err, "InvalidParameterValue") {
		return false
	}
	text := strings.ToLower(api.ErrorMessage())
	return strings.Contains(text, "filter") || strings.Contains(text, idFilter)
}

func (s *service) pages(ctx context.Context, in *rds.DescribeDBInstancesInput, found func(instanceState)) error {
	in.MaxRecords = aws.Int32(page)
	pages := rds.NewDescribeDBInstancesPaginator(s.api, in)
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for i := range out.DBInstances {
			found(stateOf(&out.DBInstances[i]))
		}
	}
	return nil
}

// readOne reads one instance; nil if there is none. Only RDS's own word proves that.
func (s *service) readOne(ctx context.Context, identifier string) (*instanceState, error) {
	out, err := s.DescribeDBInstances(ctx, &rds.DescribeDBInstancesInput{DBInstanceIdentifier: &identifier})
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, cloud.Explain(err)
	}
	for i := range out.DBInstances {
		if seen := stateOf(&out.DBInstances[i]); seen.identifier() == identifier {
			return &seen, nil
		}
	}
	return nil, fmt.Errorf("RDS DescribeDBInstances: the answer does not hold %s, and no error", identifier)
}

// Instances lists the ARNs of the database instances in the session's account and region, and keeps their states for
// routine looks.
func Instances(ctx context.Context, session *cloud.Session) ([]string, error) {
	return serviceFor(session).list(ctx, cloud.ListingOf[instanceState](session))
}

func (s *service) list(ctx context.Context, listing *cloud.Listing[instanceState]) ([]string, error) {
	all := map[string]instanceState{}
	err := s.pages(ctx, &rds.DescribeDBInstancesInput{}, func(seen instanceState) { all[seen.arn()] = seen })
	return listing.Replace(all, cloud.Explain(err))
}

// instanceState is what AWS has of one instance.
type instanceState struct {
	db   rdstypes.DBInstance
	tags map[string]string // nil: the answer came without
}

func stateOf(db *rdstypes.DBInstance) instanceState {
	seen := instanceState{db: *db}
	if db.TagList != nil {
		seen.tags = tagMap(db.TagList)
	}
	return seen
}

// readTags returns the tags of an instance or a snapshot. Answers that describe either may leave the tags out, which
// says nothing of whether there are any.
func (s *service) readTags(ctx context.Context, arn *string) (map[string]string, error) {
	out, err := s.ListTagsForResource(ctx, &rds.ListTagsForResourceInput{ResourceName: arn})
	if err != nil {
		return nil, cloud.Explain(err)
	}
	return tagMap(out.TagList), nil
}

func tagMap(list []rdstypes.Tag) map[string]string {
	return cloud.TagMap(list, func(t rdstypes.Tag) (key, value *string) { return t.Key, t.Value })
}

func tagList(tags map[string]string) []rdstypes.Tag {
	return cloud.TagList(tags, func(key, value *string) rdstypes.Tag { return rdstypes.Tag{Key: key, Value: value} })
}

// identifier in the case in which RDS keeps it.
func (s *instanceState) identifier() string {
	return strings.ToLower(aws.ToString(s.db.DBInstanceIdentifier))
}

// resource returns RDS's own ID of the instance: another instance of the same identifier has another one.
func (s *instanceState) resource() string { return aws.ToString(s.db.DbiResourceId) }

func (s *instanceState) arn() string { return aws.ToString(s.db.DBInstanceArn) }

func (s *instanceState) status() string { return aws.ToString(s.db.DBInstanceStatus) }

// pending returns the changes that wait, or are being made.
func (s *instanceState) pending() rdstypes.PendingModifiedValues {
	if s.db.PendingModifiedValues == nil {
		return rdstypes.PendingModifiedValues{}
	}
	return *s.db.PendingModifiedValues
}
