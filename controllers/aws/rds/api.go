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

// api lists the calls that Portico makes to RDS; docs/iam is checked against it.
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
	RestoreDBInstanceFromDBSnapshot(context.Context, *rds.RestoreDBInstanceFromDBSnapshotInput, ...opt) (
		*rds.RestoreDBInstanceFromDBSnapshotOutput, error)
}

type tagAPI interface {
	ListTagsForResource(context.Context, *rds.ListTagsForResourceInput, ...opt) (*rds.ListTagsForResourceOutput, error)
	AddTagsToResource(context.Context, *rds.AddTagsToResourceInput, ...opt) (*rds.AddTagsToResourceOutput, error)
	RemoveTagsFromResource(context.Context, *rds.RemoveTagsFromResourceInput, ...opt) (
		*rds.RemoveTagsFromResourceOutput, error)
}

var _ api = (*rds.Client)(nil)

// service holds what all objects of a session share.
type service struct {
	api
	batch *cloud.Batch[string, instanceState]
	// filterSize is how many identifiers a filter may have, reduced whenever RDS refuses more.
	filterSize atomic.Int32
}

// page is RDS's maximum of instances per page. RDS does not document how many values a filter may have.
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

// readMany reads instances by identifier. One that is missing from the response may still exist.
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

// refusesFilter reports whether RDS refuses a filter of identifiers. As the identifiers are known, the reason can only
// be their number.
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

// readOne reads one instance; nil if there is none. Only RDS's own error proves that.
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

// Instances lists the ARNs of the database instances in the session's account and region, and caches their states for
// routine passes.
func Instances(ctx context.Context, session *cloud.Session) ([]string, error) {
	return serviceFor(session).list(ctx, cloud.ListingOf[instanceState](session))
}

func (s *service) list(ctx context.Context, listing *cloud.Listing[instanceState]) ([]string, error) {
	all := map[string]instanceState{}
	err := s.pages(ctx, &rds.DescribeDBInstancesInput{}, func(seen instanceState) { all[seen.arn()] = seen })
	return listing.Replace(all, cloud.Explain(err))
}

// instanceState is the observed state of one instance in AWS.
type instanceState struct {
	db   rdstypes.DBInstance
	tags map[string]string // nil: the response omits them
}

func stateOf(db *rdstypes.DBInstance) instanceState {
	seen := instanceState{db: *db}
	if db.TagList != nil {
		seen.tags = tagMap(db.TagList)
	}
	return seen
}

// readTags returns the tags of an instance or a snapshot. Responses that describe either may omit the tags, even if
// there are some.
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

// identifier returns the instance's identifier in lower case, as RDS stores it.
func (s *instanceState) identifier() string {
	return strings.ToLower(aws.ToString(s.db.DBInstanceIdentifier))
}

// resource returns RDS's own ID of the instance: another instance with the same identifier has another ID.
func (s *instanceState) resource() string { return aws.ToString(s.db.DbiResourceId) }

func (s *instanceState) arn() string { return aws.ToString(s.db.DBInstanceArn) }

func (s *instanceState) status() string { return aws.ToString(s.db.DBInstanceStatus) }

// inForce returns the instance without the changes that wait or are in progress.
func (s *instanceState) inForce() *instanceState {
	now := *s
	now.db.PendingModifiedValues = nil
	return &now
}

// pending returns the changes that wait or are in progress.
func (s *instanceState) pending() rdstypes.PendingModifiedValues {
	if s.db.PendingModifiedValues == nil {
		return rdstypes.PendingModifiedValues{}
	}
	return *s.db.PendingModifiedValues
}
