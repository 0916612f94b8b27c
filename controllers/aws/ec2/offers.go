package ec2

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/offers"
)

// Offers lists what an AWS account has for the fields of an EC2Instance.
var Offers = offers.Fields{
	"instanceType":      {List: instanceTypes},
	"imageID":           {List: ownImages, Reference: reference.Image},
	"imageSSMParameter": {List: imageParameters},
	"subnetID":          {List: offers.Subnets, Reference: reference.Subnet, Whole: true},
	"securityGroupIDs":  {List: offers.SecurityGroups, Reference: reference.SecurityGroup, Many: true, Whole: true},
	"keyName":           {List: keyPairs, Reference: reference.KeyPair, Whole: true},
}

// typesPage is EC2's maximum of instance types per page.
const typesPage = 100

// instanceTypes lists the types of the region, current generations first, small before large.
func instanceTypes(ctx context.Context, s *cloud.Session, _ operatorapi.OfferQuery) ([]offers.Item, error) {
	var all []ec2types.InstanceTypeInfo
	pages := ec2.NewDescribeInstanceTypesPaginator(ec2.NewFromConfig(s.Config), &ec2.DescribeInstanceTypesInput{
		MaxResults: aws.Int32(typesPage),
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		all = append(all, out.InstanceTypes...)
	}
	slices.SortFunc(all, func(a, b ec2types.InstanceTypeInfo) int {
		return cmp.Or(cmp.Compare(outdated(a), outdated(b)), cmp.Compare(cpus(a), cpus(b)),
			cmp.Compare(memory(a), memory(b)), cmp.Compare(a.InstanceType, b.InstanceType))
	})
	items := make([]offers.Item, 0, len(all))
	for i := range all {
		items = append(items, offers.Item{
			Offer: operatorapi.Offer{Value: string(all[i].InstanceType), Label: typeWords(all[i])},
		})
	}
	return items, nil
}

func outdated(t ec2types.InstanceTypeInfo) int {
	if aws.ToBool(t.CurrentGeneration) {
		return 0
	}
	return 1
}

func cpus(t ec2types.InstanceTypeInfo) int32 {
	if t.VCpuInfo == nil {
		return 0
	}
	return aws.ToInt32(t.VCpuInfo.DefaultVCpus)
}

func memory(t ec2types.InstanceTypeInfo) int64 {
	if t.MemoryInfo == nil {
		return 0
	}
	return aws.ToInt64(t.MemoryInfo.SizeInMiB)
}

// typeWords describes a type: 2 vCPU, 4 GiB, arm64.
func typeWords(t ec2types.InstanceTypeInfo) string {
	words := fmt.Sprintf("%d vCPU, %g GiB", cpus(t), float64(memory(t))/1024)
	if p := t.ProcessorInfo; p != nil && slices.Contains(p.SupportedArchitectures, ec2types.ArchitectureTypeArm64) {
		words += ", arm64"
	}
	if outdated(t) > 0 {
		words += ", previous generation"
	}
	return words
}

// ownImages lists the account's own images, newest first. Images of others are named by a parameter.
func ownImages(ctx context.Context, s *cloud.Session, _ operatorapi.OfferQuery) ([]offers.Item, error) {
	out, err := ec2.NewFromConfig(s.Config).DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}})
	if err != nil {
		return nil, cloud.Explain(err)
	}
	slices.SortFunc(out.Images, func(a, b ec2types.Image) int {
		return cmp.Or(cmp.Compare(aws.ToString(b.CreationDate), aws.ToString(a.CreationDate)),
			cmp.Compare(aws.ToString(a.ImageId), aws.ToString(b.ImageId)))
	})
	items := make([]offers.Item, 0, len(out.Images))
	for i := range out.Images {
		image := &out.Images[i]
		day, _, _ := strings.Cut(aws.ToString(image.CreationDate), "T")
		items = append(items, offers.Item{
			Offer: operatorapi.Offer{Value: aws.ToString(image.ImageId), Label: offers.Words(aws.ToString(image.Name), string(image.Architecture), day)},
			Tags:  offers.TagsOfEC2(image.Tags),
		})
	}
	return items, nil
}

// imagePaths are the paths of parameters that name images: the platform's, and Amazon Linux, which AWS keeps current.
var imagePaths = []string{"/portico/images", publicImages + "ami-amazon-linux-latest"}

// imageParameters lists parameters that name images, AWS's own only where its images are allowed.
func imageParameters(ctx context.Context, s *cloud.Session, _ operatorapi.OfferQuery) ([]offers.Item, error) {
	var items []offers.Item
	var refused error
	for _, path := range imagePaths {
		if strings.HasPrefix(path, publicImages) && !allowsImagesOf(s, "amazon") {
			continue
		}
		found, err := parametersBelow(ctx, s, path)
		refused = cmp.Or(refused, err)
		items = append(items, found...)
	}
	if len(items) > 0 {
		return items, nil // the parameters of one path are useful without the other's
	}
	return nil, refused
}

func parametersBelow(ctx context.Context, s *cloud.Session, path string) (items []offers.Item, err error) {
	pages := ssm.NewGetParametersByPathPaginator(ssm.NewFromConfig(s.Config), &ssm.GetParametersByPathInput{
		Path: aws.String(path), Recursive: aws.Bool(true),
	})
	for pages.HasMorePages() && len(items) < offers.Longest {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for i := range out.Parameters {
			p := &out.Parameters[i]
			items = append(items, offers.Item{
				Offer: operatorapi.Offer{Value: aws.ToString(p.Name), Label: "now " + aws.ToString(p.Value)},
			})
		}
	}
	return items, nil
}

// allowsImagesOf reports whether every guardrail allows images of the owner.
func allowsImagesOf(s *cloud.Session, owner string) bool {
	for _, g := range s.Guardrails() {
		if len(g.AllowedImageOwners) > 0 && !slices.Contains(g.AllowedImageOwners, owner) {
			return false
		}
	}
	return true
}

// keyPairs lists the key pairs of the account.
func keyPairs(ctx context.Context, s *cloud.Session, _ operatorapi.OfferQuery) ([]offers.Item, error) {
	out, err := ec2.NewFromConfig(s.Config).DescribeKeyPairs(ctx, &ec2.DescribeKeyPairsInput{})
	if err != nil {
		return nil, cloud.Explain(err)
	}
	items := make([]offers.Item, 0, len(out.KeyPairs))
	for i := range out.KeyPairs {
		k := &out.KeyPairs[i]
		items = append(items, offers.Item{
			Offer: operatorapi.Offer{Value: aws.ToString(k.KeyName), Label: string(k.KeyType)},
			Tags:  offers.TagsOfEC2(k.Tags),
		})
	}
	return items, nil
}
