package reference

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	taggingtypes "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"

	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// tagAPI lists the calls to the Resource Groups Tagging API, which knows the tags of nearly everything.
type tagAPI interface {
	GetResources(context.Context, *tagging.GetResourcesInput, ...func(*tagging.Options)) (
		*tagging.GetResourcesOutput, error)
}

// profileAPI lists the calls to IAM: the tagging API does not show its instance profiles.
type profileAPI interface {
	GetInstanceProfile(context.Context, *iam.GetInstanceProfileInput, ...func(*iam.Options)) (
		*iam.GetInstanceProfileOutput, error)
}

// keyPairAPI lists the calls to EC2: key pairs are named by their names, and their ARNs contain IDs.
type keyPairAPI interface {
	DescribeKeyPairs(context.Context, *ec2.DescribeKeyPairsInput, ...func(*ec2.Options)) (
		*ec2.DescribeKeyPairsOutput, error)
}

// service holds what all objects of a session share.
type service struct {
	tags     tagAPI
	profiles profileAPI
	keyPairs keyPairAPI
}

func serviceFor(session *cloud.Session) *service {
	return cloud.Shared(session, func() *service {
		return &service{
			tags: tagging.NewFromConfig(session.Config), profiles: iam.NewFromConfig(session.Config),
			keyPairs: ec2.NewFromConfig(session.Config),
		}
	})
}

// tags reads the tags of the references, in one call for all except instance profiles and key pairs. A resource that is
// missing from the response has no tags, or is not in this account and region.
func (c *Checker) tags(ctx context.Context, references []external.Reference) (
	map[external.Reference]map[string]string, error,
) {
	found := map[external.Reference]map[string]string{}
	var arns []string
	for _, r := range references {
		if read, service := c.byName(r.Kind); read != nil {
			tags, err := read(ctx, r.Name)
			if err != nil && !c.session.Lacks(service, err) {
				return nil, cloud.Explain(err)
			}
			found[r] = tags
		} else if k := kinds[r.Kind]; k.arn != nil && k.arn(c.session, r.Name) != "" {
			arns = append(arns, k.arn(c.session, r.Name))
		}
	}
	byARN, err := c.svc.read(ctx, arns)
	if err != nil && !c.session.Lacks(tagging.ServiceID, err) {
		return nil, cloud.Explain(err)
	}
	for _, r := range references {
		if k := kinds[r.Kind]; k.arn != nil {
			found[r] = byARN[k.arn(c.session, r.Name)]
		}
	}
	return found, nil
}

// byName returns the function that reads the tags of a kind that the tagging API does not find by the given names, and
// the service that it calls; nil: the tagging API does.
func (c *Checker) byName(kind string) (
	read func(ctx context.Context, name string) (map[string]string, error), service string,
) {
	switch kind {
	case InstanceProfile:
		return c.profile, iam.ServiceID
	case KeyPair:
		return c.keyPair, ec2.ServiceID
	}
	return nil, ""
}

// keyPair reads the tags of a key pair; one that does not exist is refused like another team's.
func (c *Checker) keyPair(ctx context.Context, name string) (map[string]string, error) {
	out, err := c.svc.keyPairs.DescribeKeyPairs(ctx, &ec2.DescribeKeyPairsInput{KeyNames: []string{name}})
	if cloud.HasCode(err, "InvalidKeyPair.NotFound") {
		return nil, nil
	}
	if err != nil || len(out.KeyPairs) == 0 {
		return nil, err
	}
	return cloud.TagMap(out.KeyPairs[0].Tags, func(t ec2types.Tag) (key, value *string) { return t.Key, t.Value }), nil
}

// mostARNs is the maximum number of resources whose tags one call reads.
const mostARNs = 100

// read reads the tags of the resources with these ARNs.
func (s *service) read(ctx context.Context, arns []string) (map[string]map[string]string, error) {
	found := map[string]map[string]string{}
	if len(arns) == 0 {
		return found, nil // without a list AWS would return everything
	}
	slices.Sort(arns)
	for some := range slices.Chunk(slices.Compact(arns), mostARNs) {
		pages := tagging.NewGetResourcesPaginator(s.tags, &tagging.GetResourcesInput{ResourceARNList: some})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, err
			}
			for _, m := range page.ResourceTagMappingList {
				found[aws.ToString(m.ResourceARN)] = cloud.TagMap(m.Tags,
					func(t taggingtypes.Tag) (key, value *string) { return t.Key, t.Value })
			}
		}
	}
	return found, nil
}

// profile reads the tags of an instance profile; it returns none for another account's, which cannot be read.
func (c *Checker) profile(ctx context.Context, nameOrARN string) (map[string]string, error) {
	name := profileName(c.session, nameOrARN)
	if isARN(name) {
		return nil, nil
	}
	out, err := c.svc.profiles.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	if cloud.HasCode(err, "NoSuchEntity") {
		return nil, nil // refused like another team's
	}
	if err != nil {
		return nil, err
	}
	if out.InstanceProfile == nil {
		return nil, nil
	}
	return cloud.TagMap(out.InstanceProfile.Tags, func(t iamtypes.Tag) (key, value *string) { return t.Key, t.Value }),
		nil
}
