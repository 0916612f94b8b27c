package ec2

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// references returns what a launch makes the machine refer to, except the image and the snapshots: see admitSources.
func references(s *v1alpha1.EC2InstanceSpec) []external.Reference {
	refs := reference.Added(reference.SecurityGroup, nil, s.SecurityGroupIDs)
	refs = append(refs, external.Reference{Kind: reference.Subnet, Name: s.SubnetID},
		external.Reference{Kind: reference.InstanceProfile, Name: s.IAMInstanceProfile},
		external.Reference{Kind: reference.KeyPair, Name: s.KeyName})
	for _, m := range s.BlockDeviceMappings {
		refs = append(refs, external.Reference{Kind: reference.KMSKey, Name: m.KMSKeyID})
	}
	return refs
}

// publicImages is the path of the parameters with which AWS names its own, public images.
const publicImages = "/aws/service/"

// admitSources returns an error unless obj's namespace may read the image and the snapshots: anyone who launches from
// them has their data. Those of other accounts are shared by their owners.
func (i *instance) admitSources(ctx context.Context, obj *v1alpha1.EC2Instance, image string) error {
	ref := external.Reference{Kind: reference.Image, Name: image}
	if err := reference.Narrowed(i.session, ref); err != nil {
		return err
	}
	if !strings.HasPrefix(obj.Spec.ImageSSMParameter, publicImages) && !reference.Listed(i.session, ref) {
		if err := i.admitImage(ctx, obj, ref); err != nil {
			return err
		}
	}
	for _, m := range obj.Spec.BlockDeviceMappings {
		if m.SnapshotID == "" {
			continue
		}
		if err := i.admitSnapshot(ctx, obj, m.SnapshotID); err != nil {
			return err
		}
	}
	return nil
}

func (i *instance) admitSnapshot(ctx context.Context, obj *v1alpha1.EC2Instance, id string) error {
	out, err := i.svc.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{SnapshotIds: []string{id}})
	if strings.HasPrefix(cloud.Code(err), "InvalidSnapshot") {
		return reference.RefuseSnapshot(obj, id)
	}
	if err != nil {
		return explainLaunch(obj, i.session.Config.Region, err)
	}
	for n := range out.Snapshots {
		s := &out.Snapshots[n]
		if aws.ToString(s.OwnerId) == i.session.AccountID && !i.session.Identity.SharedWith(obj, tagMap(s.Tags)) {
			return reference.RefuseSnapshot(obj, id)
		}
	}
	return nil
}

func (i *instance) admitImage(ctx context.Context, obj *v1alpha1.EC2Instance, ref external.Reference) error {
	out, err := i.svc.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{ref.Name}})
	if strings.HasPrefix(cloud.Code(err), "InvalidAMIID") {
		return reference.Refuse(i.session, obj, []external.Reference{ref})
	}
	if err != nil {
		return explainLaunch(obj, i.session.Config.Region, err)
	}
	for n := range out.Images {
		image := &out.Images[n]
		ours := aws.ToString(image.OwnerId) == i.session.AccountID
		if ours && !aws.ToBool(image.Public) && !i.session.Identity.SharedWith(obj, tagMap(image.Tags)) {
			return reference.Refuse(i.session, obj, []external.Reference{ref})
		}
	}
	return nil
}
