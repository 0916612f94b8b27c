package ec2

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// refused returns the error of a call on one of these resources.
func (f *fakeEC2) refused(call string, resources []string) error {
	for _, id := range resources {
		if err := f.refuse[call+" "+id]; err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeEC2) CreateTags(_ context.Context, in *ec2.CreateTagsInput, _ ...opt) (*ec2.CreateTagsOutput, error) {
	return nil, f.write("CreateTags", func() error {
		if err := f.refused("CreateTags", in.Resources); err != nil {
			return err
		}
		f.retag(in.Resources, func(tags map[string]string) {
			for _, t := range in.Tags {
				tags[*t.Key] = *t.Value
			}
		})
		return nil
	})
}

// DeleteTags removes a tag with a value only if it has that value. One resource that does not exist makes the call
// fail.
func (f *fakeEC2) DeleteTags(_ context.Context, in *ec2.DeleteTagsInput, _ ...opt) (*ec2.DeleteTagsOutput, error) {
	return nil, f.write("DeleteTags", func() error {
		if err := f.refused("DeleteTags", in.Resources); err != nil {
			return err
		}
		f.untagged = append(f.untagged, in.Resources...)
		f.retag(in.Resources, func(tags map[string]string) {
			for _, t := range in.Tags {
				if t.Value == nil || tags[*t.Key] == *t.Value {
					delete(tags, *t.Key)
				}
			}
		})
		return nil
	})
}

// retag changes the tags of machines and volumes.
func (f *fakeEC2) retag(resources []string, change func(tags map[string]string)) {
	for _, m := range f.machines {
		if slices.Contains(resources, *m.vm.InstanceId) {
			change(m.tags)
		}
		for _, v := range m.volumes {
			if slices.Contains(resources, aws.ToString(v.VolumeId)) {
				tags := tagMap(v.Tags)
				change(tags)
				v.Tags = tagList(tags)
			}
		}
	}
}

// volumeTags returns the tags of the volume at the device of the youngest machine.
func (f *fakeEC2) volumeTags(device string) map[string]string {
	return tagMap(f.last().volumes[device].Tags)
}

// offer tags the youngest machine, and its volumes at these devices, as offered to the object.
func (f *fakeEC2) offer(devices ...string) {
	f.last().tags = map[string]string{"portico.dev/adopt": "payments/worker", "made-by": "hand"}
	for device, v := range f.last().volumes {
		v.Tags = []ec2types.Tag{{Key: aws.String("made-by"), Value: aws.String("hand")}}
		if slices.Contains(devices, device) {
			v.Tags = tagList(f.last().tags)
		}
	}
}
