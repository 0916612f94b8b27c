package ec2

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// volumeChanges returns the differences of one volume: those that ModifyVolume changes, and those of its attachment.
func volumeChanges(obj *v1alpha1.EC2Instance, seen *instanceState, device string) (
	volume, attachment []external.Change,
) {
	for _, c := range external.Changes(volumeSettings(device), obj, seen) {
		name := c.Path[strings.LastIndexByte(c.Path, '.')+1:]
		_, declared := declaredAt(obj, c.Path, device)
		switch {
		case name == keepPath:
			attachment = append(attachment, c)
		case !declared && typeAfter(obj, seen, device) != ec2types.VolumeTypeGp3: // the defaults are those of gp3
		default:
			volume = append(volume, c)
		}
	}
	return volume, attachment
}

func declaredAt(obj *v1alpha1.EC2Instance, path, device string) (string, bool) {
	for _, f := range volumeSettings(device) {
		if f.Path == path {
			return f.Want(obj)
		}
	}
	return "", false
}

// typeAfter returns the type that the volume has after the declared changes.
func typeAfter(obj *v1alpha1.EC2Instance, seen *instanceState, device string) ec2types.VolumeType {
	if want, declared := declaredAt(obj, volumePath(device, "volumeType"), device); declared {
		return ec2types.VolumeType(want)
	}
	return seen.volumes[device].VolumeType
}

// volumePace is the poll interval while EC2 changes a volume, which takes minutes to hours.
const volumePace = 30 * time.Second

// missingVolume returns an error if the spec declares a volume at device; the instance has none there.
func missingVolume(obj *v1alpha1.EC2Instance, device string) error {
	if !slices.ContainsFunc(obj.Spec.BlockDeviceMappings, func(m v1alpha1.EC2BlockDevice) bool {
		return m.DeviceName == device
	}) {
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonVolumeMissing, "the instance has no volume at %s, and Portico attaches "+
		"volumes only at the launch; nothing was attached. Attach one in AWS, or remove the device from "+
		"blockDeviceMappings", device)
}

// planVolumes grows and changes existing volumes. It attaches and detaches none.
func (i *instance) planVolumes(obj *v1alpha1.EC2Instance, seen *instanceState) ([]external.Action, error) {
	if seen.volumes == nil {
		return nil, nil
	}
	var actions []external.Action
	var rest error
	for _, device := range devices(obj) {
		v, there := seen.volumes[device]
		if !there {
			rest = cmp.Or(missingVolume(obj, device), rest)
			continue
		}
		if err := volumeTooLarge(obj, seen, device); err != nil {
			rest = err
		}
		volume, attachment := volumeChanges(obj, seen, device)
		if len(volume)+len(attachment) > 0 && i.ofAnother(obj, v) && !external.ObserveOnly(obj) {
			rest = anothersVolume(aws.ToString(v.VolumeId), device)
			continue
		}
		if marks := i.planVolumeTags(obj, seen, device, len(volume)+len(attachment) > 0); len(marks) > 0 {
			actions = append(actions, marks...) // the changes follow once the tags show
			continue
		}
		if len(attachment) > 0 {
			actions = append(actions, i.setDeleteOnTermination(seen, device, attachment))
		}
		change, err := i.planModify(obj, seen, device, volume)
		actions, rest = append(actions, change...), cmp.Or(err, rest)
	}
	return actions, rest
}

// planModify changes a volume, unless AWS still works on the last change.
func (i *instance) planModify(obj *v1alpha1.EC2Instance, seen *instanceState, device string,
	changes []external.Change,
) ([]external.Action, error) {
	v := seen.volumes[device]
	switch {
	case len(changes) == 0:
		return nil, nil
	case v.modifying() && !external.ObserveOnly(obj):
		return nil, engine.Wait(v1alpha1.ReasonVolumeModifying, volumePace,
			"%s waits: AWS is still at work on the last change of the volume at %s", external.Describe(changes), device)
	default:
		return []external.Action{i.modifyVolume(obj, seen, device, changes)}, nil
	}
}

// volumeTooLarge returns the error for a volume that is larger than declared, whatever enlarged it: EBS volumes cannot
// shrink.
func volumeTooLarge(obj *v1alpha1.EC2Instance, seen *instanceState, device string) error {
	want, declared := declaredAt(obj, volumePath(device, "volumeSize"), device)
	have := external.FormatInt(seen.volumes[device].Size)
	if !declared || want == have || !external.NotLess(have, want) {
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonVolumeCannotShrink, "the volume at %s has %s GiB, and volumeSize asks for "+
		"%s: EBS volumes cannot shrink; its size was not changed. Set volumeSize to %s, or move the data to a "+
		"smaller volume",
		device, have, want, have)
}

// modifying reports whether a modification is under way; until it completes, AWS accepts no other.
func (v *volumeState) modifying() bool {
	return v.modification != nil && (v.modification.ModificationState == ec2types.VolumeModificationStateModifying ||
		v.modification.ModificationState == ec2types.VolumeModificationStateOptimizing)
}

func (i *instance) setDeleteOnTermination(
	seen *instanceState, device string, changes []external.Change,
) external.Action {
	return external.Action{
		Name: "ModifyInstanceAttribute", Why: external.Describe(changes), Changes: changes,
		Do: func(ctx context.Context) error {
			return explain(i.modify(ctx, &ec2.ModifyInstanceAttributeInput{
				InstanceId: seen.vm.InstanceId,
				BlockDeviceMappings: []ec2types.InstanceBlockDeviceMappingSpecification{{
					DeviceName: &device, Ebs: &ec2types.EbsInstanceBlockDeviceSpecification{
						DeleteOnTermination: aws.Bool(changes[0].To == "true"),
					},
				}},
			}))
		},
	}
}

// modification returns the call for the changes. If the type changes, EC2 sets settings that the call does not name to
// the type's defaults, so declared settings are named even if they do not differ.
func modification(obj *v1alpha1.EC2Instance, seen *instanceState, device string,
	changes []external.Change,
) *ec2.ModifyVolumeInput {
	in := &ec2.ModifyVolumeInput{VolumeId: seen.volumes[device].VolumeId}
	for _, c := range changes {
		switch c.Path {
		case volumePath(device, "volumeSize"):
			in.Size = external.ParseInt(c.To)
		case volumePath(device, "volumeType"):
			in.VolumeType = ec2types.VolumeType(c.To)
		case volumePath(device, "iops"):
			in.Iops = external.ParseInt(c.To)
		case volumePath(device, "throughput"):
			in.Throughput = external.ParseInt(c.To)
		}
	}
	if in.VolumeType == "" {
		return in
	}
	if iops, declared := declaredAt(obj, volumePath(device, "iops"), device); declared {
		in.Iops = external.ParseInt(iops)
	}
	if throughput, declared := declaredAt(obj, volumePath(device, "throughput"), device); declared {
		in.Throughput = external.ParseInt(throughput)
	}
	return in
}

func (i *instance) modifyVolume(obj *v1alpha1.EC2Instance, seen *instanceState, device string,
	changes []external.Change,
) external.Action {
	in := modification(obj, seen, device, changes)
	return external.Action{
		Name: "ModifyVolume", Why: external.Describe(changes), Changes: changes,
		Do: func(ctx context.Context) error {
			_, err := i.svc.ModifyVolume(ctx, in)
			switch {
			case cloud.HasCode(err, "IncorrectModificationState"):
				return nil // an earlier try succeeded; the next pass reads its progress
			case cloud.HasCode(err, "VolumeModificationRateExceeded"):
				return engine.Wait(v1alpha1.ReasonVolumeModificationRateExceeded, 30*time.Minute,
					"%s waits: AWS limits how often a volume is changed, and wants some hours between two changes; "+
						"Portico tries again every half hour", external.Describe(changes))
			}
			return explain(err)
		},
	}
}
