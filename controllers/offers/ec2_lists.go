package offers

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
)

// page is the page size of requests to EC2.
const page = 200

// Subnets lists the subnets of the account, by ID.
func Subnets(ctx context.Context, s *cloud.Session, _ operatorapi.OfferQuery) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeSubnetsPaginator(ec2.NewFromConfig(s.Config), &ec2.DescribeSubnetsInput{
		MaxResults: aws.Int32(page),
	})
	for pages.HasMorePages() && len(items) < Longest {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for i := range out.Subnets {
			n := &out.Subnets[i]
			tags := TagsOfEC2(n.Tags)
			items = append(items, Item{
				operatorapi.Offer{
					Value: aws.ToString(n.SubnetId),
					Label: Words(tags["Name"], aws.ToString(n.AvailabilityZone), aws.ToString(n.CidrBlock)),
				}, tags,
			})
		}
	}
	return items, nil
}

// SecurityGroups lists the security groups of the account, by ID.
func SecurityGroups(ctx context.Context, s *cloud.Session, _ operatorapi.OfferQuery) ([]Item, error) {
	var items []Item
	pages := ec2.NewDescribeSecurityGroupsPaginator(ec2.NewFromConfig(s.Config), &ec2.DescribeSecurityGroupsInput{
		MaxResults: aws.Int32(page),
	})
	for pages.HasMorePages() && len(items) < Longest {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for i := range out.SecurityGroups {
			g := &out.SecurityGroups[i]
			items = append(items, Item{
				operatorapi.Offer{
					Value: aws.ToString(g.GroupId),
					Label: Words(aws.ToString(g.GroupName), aws.ToString(g.VpcId)),
				}, TagsOfEC2(g.Tags),
			})
		}
	}
	return items, nil
}

// TagsOfEC2 returns tags as a map that is never nil: EC2 always returns all tags.
func TagsOfEC2(tags []ec2types.Tag) map[string]string {
	return cloud.TagMap(tags, func(t ec2types.Tag) (key, value *string) { return t.Key, t.Value })
}

// Words joins the known facts about an item to a label.
func Words(parts ...string) string {
	known := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			known = append(known, p)
		}
	}
	return strings.Join(known, ", ")
}
