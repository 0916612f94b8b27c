package ec2

import (
	"context"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/external"
)

type (
	object  = *v1alpha1.EC2Instance
	setting = external.Setting[object, instanceState]
)

// call changes some settings of a machine, whether it is running or not.
type call struct {
	settings []setting
	// read reports whether the settings were read; nil: always.
	read func(*instanceState) bool
	// possible removes changes that EC2 would refuse, and adds those that go with the others; nil: neither.
	possible func(obj object, seen *instanceState, changes []external.Change) []external.Change
	// references returns what the changes make the machine refer to; nil: nothing.
	references func(changes []external.Change) []external.Reference
	name       func(changes []external.Change) string
	do         func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error
}

// calls are in the order in which they are made: closing access before opening it.
var calls = []call{metadata, groups, profile, protection, monitoring, credits}

// settingsOf returns the settings that can change, of the machine and of its declared volumes.
func settingsOf(obj *v1alpha1.EC2Instance) []setting {
	all := slices.Concat(offline, power)
	for _, c := range calls {
		all = append(all, c.settings...)
	}
	for _, m := range obj.Spec.BlockDeviceMappings {
		all = append(all, volumeSettings(m.DeviceName)...)
	}
	return all
}

func always(name string) func([]external.Change) string {
	return func([]external.Change) string { return name }
}

func (i *instance) planCalls(obj *v1alpha1.EC2Instance, seen *instanceState) []external.Action {
	var actions []external.Action
	for _, c := range calls {
		if c.read != nil && !c.read(seen) {
			continue
		}
		changes := external.Changes(c.settings, obj, seen)
		if c.possible != nil {
			changes = c.possible(obj, seen, changes)
		}
		actions = append(actions, external.PlanCall(changes, func(some []external.Change) external.Action {
			return i.callFor(c, seen, some)
		})...)
	}
	return actions
}

func (i *instance) callFor(c call, seen *instanceState, changes []external.Change) external.Action {
	action := external.Action{
		Name: c.name(changes), Why: external.Describe(changes), Changes: changes,
		Do: func(ctx context.Context) error {
			return explain(c.do(ctx, i, seen, changes))
		},
	}
	if c.references != nil {
		action.References = c.references(changes)
	}
	return action
}

// fixed are the settings that EC2 cannot change.
var fixed = []setting{
	{
		Path: "imageID", Sticky: true, Want: external.Text(func(o object) string { return o.Spec.ImageID }),
		Have: func(seen *instanceState) string { return aws.ToString(seen.vm.ImageId) },
	},
	{
		Path: "keyName", Sticky: true, Want: external.Text(func(o object) string { return o.Spec.KeyName }),
		Have: func(seen *instanceState) string { return aws.ToString(seen.vm.KeyName) },
	},
	{
		Path: "subnetID", Sticky: true, Want: external.Text(func(o object) string { return o.Spec.SubnetID }),
		Have: func(seen *instanceState) string { return aws.ToString(seen.vm.SubnetId) },
	},
}

// The security groups have no default to return to: the VPC's own group may be anything.
var groups = call{
	settings: []setting{{
		Path: "securityGroupIDs", Sticky: true,
		Want: external.Set(func(o object) []string { return o.Spec.SecurityGroupIDs }),
		Have: func(seen *instanceState) string {
			var ids []string
			for _, g := range seen.vm.SecurityGroups {
				ids = append(ids, aws.ToString(g.GroupId))
			}
			return external.JoinSet(ids)
		},
	}},
	references: func(changes []external.Change) []external.Reference {
		return reference.Added(reference.SecurityGroup, external.SplitSet(changes[0].From),
			external.SplitSet(changes[0].To))
	},
	name: always("ModifyInstanceAttribute"),
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		return i.modify(ctx, &ec2.ModifyInstanceAttributeInput{
			InstanceId: seen.vm.InstanceId, Groups: external.SplitSet(changes[0].To),
		})
	},
}

func (i *instance) modify(ctx context.Context, in *ec2.ModifyInstanceAttributeInput) error {
	_, err := i.svc.ModifyInstanceAttribute(ctx, in)
	return err
}

var monitoring = call{
	settings: []setting{{
		Path: "monitoring", Default: "false",
		Want: external.Bool(func(o object) *bool { return o.Spec.Monitoring }),
		Have: func(seen *instanceState) string {
			m := seen.vm.Monitoring
			return strconv.FormatBool(
				m != nil && (m.State == ec2types.MonitoringStateEnabled || m.State == ec2types.MonitoringStatePending))
		},
	}},
	name: func(changes []external.Change) string {
		if changes[0].To == "true" {
			return "MonitorInstances"
		}
		return "UnmonitorInstances"
	},
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		ids := []string{seen.id()}
		if changes[0].To == "true" {
			_, err := i.svc.MonitorInstances(ctx, &ec2.MonitorInstancesInput{InstanceIds: ids})
			return err
		}
		_, err := i.svc.UnmonitorInstances(ctx, &ec2.UnmonitorInstancesInput{InstanceIds: ids})
		return err
	},
}

// protection is read with a call of its own. Only the value false lifts it; removing the field from the spec does not.
var protection = call{
	settings: []setting{{
		Path: "disableApiTermination", Sticky: true, Guard: "true",
		Want: external.Bool(func(o object) *bool { return o.Spec.DisableAPITermination }),
		Have: func(seen *instanceState) string { return strconv.FormatBool(aws.ToBool(seen.protected)) },
	}},
	read: func(seen *instanceState) bool { return seen.protected != nil },
	name: always("ModifyInstanceAttribute"),
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		return i.protect(ctx, seen, changes[0].To == "true")
	},
}

func (i *instance) protect(ctx context.Context, seen *instanceState, on bool) error {
	return i.modify(ctx, &ec2.ModifyInstanceAttributeInput{
		InstanceId: seen.vm.InstanceId, DisableApiTermination: &ec2types.AttributeBooleanValue{Value: &on},
	})
}
