package ec2

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/controllers/cloud"
)

// instanceState is the observed state of one instance in AWS.
type instanceState struct {
	vm   ec2types.Instance
	tags map[string]string
	// protected is disableApiTermination; nil: not read.
	protected *bool
	// credits is the credit option for the CPU; nil: not read.
	credits *string
	// volumes are the attached volumes, by device; nil: not read.
	volumes map[string]volumeState
}

// volumeState is one attached volume.
type volumeState struct {
	ec2types.Volume
	deleteOnTermination bool
	// modification is the latest one of a volume that differs from the spec; nil: none, or not read.
	modification *ec2types.VolumeModification
}

func stateOf(vm *ec2types.Instance) instanceState {
	return instanceState{vm: *vm, tags: tagMap(vm.Tags)}
}

func tagMap(list []ec2types.Tag) map[string]string {
	return cloud.TagMap(list, func(t ec2types.Tag) (key, value *string) { return t.Key, t.Value })
}

func tagList(tags map[string]string) []ec2types.Tag {
	return cloud.TagList(tags, func(key, value *string) ec2types.Tag { return ec2types.Tag{Key: key, Value: value} })
}

func (s *instanceState) id() string { return aws.ToString(s.vm.InstanceId) }

// state returns EC2's state of the instance; without one it counts as pending.
func (s *instanceState) state() ec2types.InstanceStateName {
	if s.vm.State == nil {
		return ec2types.InstanceStateNamePending
	}
	return s.vm.State.Name
}

// ended reports whether the instance is terminated or shutting down.
func (s *instanceState) ended() bool {
	return s.state() == ec2types.InstanceStateNameTerminated || s.state() == ec2types.InstanceStateNameShuttingDown
}

// volumeIDs returns the attached volumes, by device.
func (s *instanceState) volumeIDs() map[string]string {
	all := make(map[string]string, len(s.vm.BlockDeviceMappings))
	for _, m := range s.vm.BlockDeviceMappings {
		if m.Ebs != nil {
			all[aws.ToString(m.DeviceName)] = aws.ToString(m.Ebs.VolumeId)
		}
	}
	return all
}

func arn(session *cloud.Session, id string) string {
	return session.ARN("ec2", "instance/"+id)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
