package ec2

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
)

// volumePage is EC2's maximum of volumes per page.
const volumePage = 500

// readVolumes reads the volumes of many instances.
func (s *service) readVolumes(ctx context.Context, instances []string) (map[string][]ec2types.Volume, error) {
	all := map[string][]ec2types.Volume{}
	pages := ec2.NewDescribeVolumesPaginator(s.api, &ec2.DescribeVolumesInput{
		Filters: []ec2types.Filter{filter("attachment.instance-id", instances...)}, MaxResults: aws.Int32(volumePage),
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for _, v := range out.Volumes {
			for _, a := range v.Attachments {
				all[aws.ToString(a.InstanceId)] = append(all[aws.ToString(a.InstanceId)], v)
			}
		}
	}
	return all, nil
}

// addVolumes reads the attached volumes, in one call with concurrent reads of others, and the modifications of those
// that differ.
func (i *instance) addVolumes(ctx context.Context, obj *v1alpha1.EC2Instance, seen *instanceState) error {
	list, _, err := i.svc.volumes.Get(ctx, seen.id())
	if err != nil {
		return err
	}
	read := map[string]ec2types.Volume{}
	for _, v := range list {
		read[aws.ToString(v.VolumeId)] = v
	}
	if err := i.addMissing(ctx, seen, read); err != nil {
		return err
	}
	seen.volumes = map[string]volumeState{}
	for _, m := range seen.vm.BlockDeviceMappings {
		if m.Ebs != nil {
			seen.volumes[aws.ToString(m.DeviceName)] = volumeState{
				Volume:              read[aws.ToString(m.Ebs.VolumeId)],
				deleteOnTermination: aws.ToBool(m.Ebs.DeleteOnTermination),
			}
		}
	}
	return i.addModifications(ctx, obj, seen)
}

// addMissing reads the volumes that the batch did not return.
func (i *instance) addMissing(ctx context.Context, seen *instanceState, read map[string]ec2types.Volume) error {
	var missing []string
	for _, id := range seen.volumeIDs() {
		if _, ok := read[id]; !ok {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	out, err := i.svc.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: missing})
	if err != nil {
		return explain(err)
	}
	for _, v := range out.Volumes {
		read[aws.ToString(v.VolumeId)] = v
	}
	for _, id := range missing {
		if _, ok := read[id]; !ok {
			return errors.New("EC2 DescribeVolumes: the answer does not hold " + id + ", and no error")
		}
	}
	return nil
}

func (i *instance) addModifications(ctx context.Context, obj *v1alpha1.EC2Instance, seen *instanceState) error {
	byID := map[string]string{}
	for _, device := range devices(obj) {
		if v, ok := seen.volumes[device]; ok {
			if differ, _ := volumeChanges(obj, seen, device); len(differ) > 0 {
				byID[aws.ToString(v.VolumeId)] = device
			}
		}
	}
	if len(byID) == 0 {
		return nil
	}
	out, err := i.svc.DescribeVolumesModifications(ctx, &ec2.DescribeVolumesModificationsInput{
		// VolumeIds fails for volumes that were never modified
		Filters: []ec2types.Filter{filter("volume-id", sortedKeys(byID)...)},
	})
	if err != nil {
		return explain(err)
	}
	for n := range out.VolumesModifications {
		m := &out.VolumesModifications[n]
		if device, ok := byID[aws.ToString(m.VolumeId)]; ok {
			v := seen.volumes[device]
			if v.modification == nil || aws.ToTime(m.StartTime).After(aws.ToTime(v.modification.StartTime)) {
				v.modification = m
			}
			seen.volumes[device] = v
		}
	}
	return nil
}
