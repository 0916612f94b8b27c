package ec2

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/controllers/cloud"
)

// keepGuardrails checks the parts of a launch that the spec alone does not show: the image's owner, and the volumes of
// the image. Where data must be encrypted, it encrypts these volumes.
func (i *instance) keepGuardrails(ctx context.Context, obj object, in *ec2.RunInstancesInput) error {
	rules := slices.DeleteFunc(i.session.Guardrails(), func(r cloud.Ruled) bool {
		return len(r.AllowedImageOwners) == 0 && r.MaxVolumeSizeGiB == nil && !r.RequireEncryption
	})
	if len(rules) == 0 {
		return nil
	}
	out, err := i.svc.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{aws.ToString(in.ImageId)}})
	if err != nil {
		return explainLaunch(obj, i.session.Config.Region, err)
	}
	for n := range out.Images {
		for _, rule := range rules {
			if err := i.checkImage(&out.Images[n], in, rule); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *instance) checkImage(image *ec2types.Image, in *ec2.RunInstancesInput, rule cloud.Ruled) error {
	if owners := rule.AllowedImageOwners; len(owners) > 0 && !slices.ContainsFunc(owners, func(o string) bool {
		return i.owns(o, image)
	}) {
		return cloud.NotAllowed(fmt.Sprintf("the image %s of account %s", aws.ToString(image.ImageId),
			aws.ToString(image.OwnerId)), "allowedImageOwners", rule.By, guardrails.Shorten(owners))
	}
	for _, m := range image.BlockDeviceMappings {
		if m.Ebs == nil || slices.ContainsFunc(in.BlockDeviceMappings, func(named ec2types.BlockDeviceMapping) bool {
			return aws.ToString(named.DeviceName) == aws.ToString(m.DeviceName) && aws.ToInt32(named.Ebs.VolumeSize) > 0
		}) {
			continue
		}
		if most := rule.MaxVolumeSizeGiB; most != nil && aws.ToInt32(m.Ebs.VolumeSize) > *most {
			return cloud.NotAllowed(fmt.Sprintf("the volume %s of the image %s with %d GiB", aws.ToString(m.DeviceName),
				aws.ToString(image.ImageId), aws.ToInt32(m.Ebs.VolumeSize)),
				"maxVolumeSizeGiB", rule.By, fmt.Sprintf("at most %d", *most))
		}
		if rule.RequireEncryption && !isNamed(in, m) {
			in.BlockDeviceMappings = append(in.BlockDeviceMappings, ec2types.BlockDeviceMapping{
				DeviceName: m.DeviceName, Ebs: &ec2types.EbsBlockDevice{Encrypted: aws.Bool(true)},
			})
		}
	}
	return nil
}

func isNamed(in *ec2.RunInstancesInput, m ec2types.BlockDeviceMapping) bool {
	return slices.ContainsFunc(in.BlockDeviceMappings, func(named ec2types.BlockDeviceMapping) bool {
		return aws.ToString(named.DeviceName) == aws.ToString(m.DeviceName)
	})
}

// owns reports whether an entry of allowedImageOwners matches the image's owner.
func (i *instance) owns(owner string, image *ec2types.Image) bool {
	switch owner {
	case "self":
		return aws.ToString(image.OwnerId) == i.session.AccountID
	case "amazon":
		return aws.ToString(image.ImageOwnerAlias) == owner
	}
	return aws.ToString(image.OwnerId) == owner
}
