package ec2

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// planVolumeTags marks the volume at device as obj's. A launch marks all volumes; with an adopted instance, the volumes
// that the spec names are adopted too, because the permission to change a volume depends on its own tags. A volume that
// is not offered is marked only if it must be changed; one of another object is never adopted.
func (i *instance) planVolumeTags(obj *v1alpha1.EC2Instance, seen *instanceState, device string,
	changing bool,
) []external.Action {
	v := seen.volumes[device]
	tags := tagMap(v.Tags)
	offered := i.session.Identity.Owner(obj, tags) == external.Offered
	if external.ObserveOnly(obj) || (!offered && (marked(tags) || !changing)) {
		return nil
	}
	id := aws.ToString(v.VolumeId)
	change := cloud.TagChange{
		Set: i.session.Identity.OwnershipTags(obj),
		Why: fmt.Sprintf("the volume %s at %s is taken with the instance", id, device),
	}
	if offered {
		change.Remove = []string{cloud.TagAdopt}
	}
	return change.Actions(i.tagCalls(id, func(err error) error {
		if !cloud.IsDenied(err) {
			return explain(err)
		}
		return engine.Blocked(v1alpha1.ReasonAccessDenied, "the volume %s at %s does not carry the tags of this "+
			"object, and the identity of the AWS account does not have the right to set them; the volume was not "+
			"changed. Ask somebody with access to AWS to tag the volume portico.dev/adopt=%s/%s, as the instance "+
			"was, or remove %s from blockDeviceMappings",
			id, device, obj.Namespace, obj.Name, device)
	}))
}

// marked reports whether the tags are those of an object, whichever that is.
func marked(tags map[string]string) bool {
	return tags[cloud.TagCluster] != "" || tags[cloud.TagNamespace] != ""
}

// ofAnother reports whether the volume has the tags of another object.
func (i *instance) ofAnother(obj *v1alpha1.EC2Instance, v volumeState) bool {
	tags := tagMap(v.Tags)
	return marked(tags) && i.session.Identity.Owner(obj, tags) == external.Foreign
}

func anothersVolume(id, device string) error {
	return engine.Blocked(v1alpha1.ReasonAccessDenied, "the volume %s at %s has the tags of another object, and "+
		"was not changed. Ask somebody with access to AWS to remove its portico.dev/ tags if that object does not "+
		"use it any "+
		"more, or remove %s from blockDeviceMappings", id, device, device)
}

// tagCalls returns the calls that set and remove tags of one resource.
func (i *instance) tagCalls(id string, explain func(error) error) cloud.TagCalls {
	ids := []string{id}
	return cloud.TagCalls{
		SetName: "CreateTags", RemoveName: "DeleteTags",
		Set: func(ctx context.Context, tags map[string]string) error {
			_, err := i.svc.CreateTags(ctx, &ec2.CreateTagsInput{Resources: ids, Tags: tagList(tags)})
			return explain(err)
		},
		Remove: func(ctx context.Context, keys []string) error {
			in := &ec2.DeleteTagsInput{Resources: ids}
			for _, key := range keys {
				in.Tags = append(in.Tags, ec2types.Tag{Key: aws.String(key)})
			}
			_, err := i.svc.DeleteTags(ctx, in)
			return explain(err)
		},
	}
}
