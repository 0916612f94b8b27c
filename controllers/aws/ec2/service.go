package ec2

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/portico-platform/portico/controllers/cloud"
)

// service holds what all objects of a session share.
type service struct {
	api
	ssm      parameters
	profiles profiles

	byID    *cloud.Batch[string, instanceState]
	byName  *cloud.Batch[ownerKey, []instanceState]
	offered *cloud.Batch[string, []instanceState]
	volumes *cloud.Batch[string, []ec2types.Volume]
}

// ownerKey identifies the owner of an instance by its tags, without UIDs.
type ownerKey struct{ cluster, kind, namespace, name string }

// EC2 accepts up to 200 values in all filters of a call together, and returns up to 1,000 instances per page. A search
// by tags has up to two values for each object, its namespace and its name, and some that all objects share.
const (
	mostKeys = 90
	page     = 1000
)

func newService(client api, images parameters, window time.Duration) *service {
	s := &service{api: client, ssm: images}
	s.byID = &cloud.Batch[string, instanceState]{Window: window, Most: mostKeys, Read: s.readByID}
	s.byName = &cloud.Batch[ownerKey, []instanceState]{Window: window, Most: mostKeys, Read: s.readByName}
	s.offered = &cloud.Batch[string, []instanceState]{Window: window, Most: mostKeys, Read: s.readOffered}
	s.volumes = &cloud.Batch[string, []ec2types.Volume]{Window: window, Most: mostKeys, Read: s.readVolumes}
	return s
}

func serviceFor(session *cloud.Session) *service {
	return cloud.Shared(session, func() *service {
		s := newService(ec2.NewFromConfig(session.Config), ssm.NewFromConfig(session.Config), 20*time.Millisecond)
		s.profiles = iam.NewFromConfig(session.Config)
		return s
	})
}

func filter(name string, values ...string) ec2types.Filter {
	return ec2types.Filter{Name: aws.String(name), Values: values}
}

// notTerminated is the filter for instances that exist. A terminated one shows for about another hour.
var notTerminated = filter("instance-state-name", "pending", "running", "stopping", "stopped", "shutting-down")

// pages passes all instances that match the filters to found, or fails.
func (s *service) pages(ctx context.Context, found func(instanceState), filters ...ec2types.Filter) error {
	pages := ec2.NewDescribeInstancesPaginator(
		s.api, &ec2.DescribeInstancesInput{Filters: filters, MaxResults: aws.Int32(page)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return cloud.Explain(err)
		}
		for _, r := range out.Reservations {
			for i := range r.Instances {
				found(stateOf(&r.Instances[i]))
			}
		}
	}
	return nil
}

// readByID reads many instances. One that is missing from the response may still exist.
func (s *service) readByID(ctx context.Context, ids []string) (map[string]instanceState, error) {
	all := map[string]instanceState{}
	err := s.pages(ctx, func(seen instanceState) { all[seen.id()] = seen }, filter("instance-id", ids...))
	return all, err
}

func (s *service) readByName(ctx context.Context, keys []ownerKey) (map[ownerKey][]instanceState, error) {
	values := map[string]map[string]bool{}
	for _, k := range keys {
		for tag, value := range map[string]string{
			cloud.TagCluster: k.cluster, cloud.TagKind: k.kind,
			cloud.TagNamespace: k.namespace, cloud.TagName: k.name,
		} {
			if values[tag] == nil {
				values[tag] = map[string]bool{}
			}
			values[tag][value] = true
		}
	}
	filters := []ec2types.Filter{notTerminated}
	for _, tag := range sortedKeys(values) {
		filters = append(filters, filter("tag:"+tag, sortedKeys(values[tag])...))
	}
	all := map[ownerKey][]instanceState{}
	err := s.pages(ctx, func(seen instanceState) {
		t := seen.tags
		k := ownerKey{t[cloud.TagCluster], t[cloud.TagKind], t[cloud.TagNamespace], t[cloud.TagName]}
		all[k] = append(all[k], seen)
	}, filters...)
	return all, err
}

func (s *service) readOffered(ctx context.Context, offers []string) (map[string][]instanceState, error) {
	all := map[string][]instanceState{}
	err := s.pages(ctx, func(seen instanceState) {
		to := seen.tags[cloud.TagAdopt]
		all[to] = append(all[to], seen)
	}, notTerminated, filter("tag:"+cloud.TagAdopt, offers...))
	return all, err
}

// readOne reads one instance; nil if there is none. Only EC2's own error proves that.
func (s *service) readOne(ctx context.Context, id string) (*instanceState, error) {
	out, err := s.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, cloud.Explain(err)
	}
	for _, r := range out.Reservations {
		for i := range r.Instances {
			if seen := stateOf(&r.Instances[i]); seen.id() == id {
				return &seen, nil
			}
		}
	}
	return nil, errors.New("EC2 DescribeInstances: the answer does not hold " + id + ", and no error")
}

// Instances lists the ARNs of the cluster's instances in the session's account and region, and caches their states for
// routine passes.
func Instances(ctx context.Context, session *cloud.Session) ([]string, error) {
	return serviceFor(session).list(ctx, session, cloud.ListingOf[instanceState](session))
}

func (s *service) list(ctx context.Context, session *cloud.Session, listing *cloud.Listing[instanceState]) (
	[]string, error,
) {
	all := map[string]instanceState{}
	err := s.pages(ctx, func(seen instanceState) { all[arn(session, seen.id())] = seen },
		filter("instance-state-name", "pending", "running", "stopping", "stopped"),
		filter("tag:"+cloud.TagCluster, session.Identity.Cluster))
	return listing.Replace(all, err)
}
