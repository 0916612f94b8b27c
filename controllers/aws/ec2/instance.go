// Package ec2 keeps EC2 kinds.
package ec2

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// Settling is how long EC2 may deny that an instance exists which was launched, or told to terminate: the API reference of
// both calls gives no time, and its guide to eventual consistency advises to ask for up to five minutes.
const Settling = 5 * time.Minute

// instance adapts EC2Instance; made for one pass.
type instance struct {
	svc     *service
	session *cloud.Session
	kube    external.Kube
	over    bool // see Ended
}

// Instance adapts EC2Instance.
func Instance(session *cloud.Session, kube external.Kube) external.Adapter[*v1alpha1.EC2Instance, instanceState] {
	return &instance{svc: serviceFor(session), session: session, kube: kube}
}

// Owner reads ownership off the tags.
func (i *instance) Owner(obj *v1alpha1.EC2Instance, seen *instanceState) external.Owner {
	return i.session.Identity.Owner(obj, seen.tags)
}

// Declared lists the spec paths in use.
func (i *instance) Declared(obj *v1alpha1.EC2Instance) []string {
	paths := i.session.TagPaths(obj, ownTags(obj))
	for _, c := range calls {
		paths = append(paths, external.DeclaredPaths(c.fields, obj)...)
	}
	paths = append(paths, external.DeclaredPaths(offline, obj)...)
	paths = append(paths, external.DeclaredPaths(power, obj)...)
	for _, m := range obj.Spec.BlockDeviceMappings {
		paths = append(paths, external.DeclaredPaths(volumeFields(m.DeviceName), obj)...)
	}
	slices.Sort(paths)
	return paths
}

// ownTags are the spec's tags with the one that makes the instance's name.
func ownTags(obj *v1alpha1.EC2Instance) v1alpha1.Tags {
	own := v1alpha1.Tags{"Name": v1alpha1.TagValue(obj.Spec.InstanceName)}
	maps.Copy(own, obj.Spec.Tags)
	return own
}

// Ended implements external.Ender: EC2 shows a terminated instance for about an hour.
func (i *instance) Ended() bool { return i.over }

// NextAttempt implements external.Retrier.
func (i *instance) NextAttempt(obj *v1alpha1.EC2Instance) { obj.Status.LaunchAttempts++ }

// Reserve notes where the instance will be; its ID is EC2's to give, and until it is known the tags find it.
func (i *instance) Reserve(obj *v1alpha1.EC2Instance) {
	obj.Status.Region, obj.Status.AccountID = i.session.Config.Region, i.session.AccountID
}

// settlingPace is for looking again while an instance starts or stops.
const settlingPace = 5 * time.Second

// Plan compares.
func (i *instance) Plan(obj *v1alpha1.EC2Instance, seen *instanceState) ([]external.Step, error) {
	if seen == nil {
		return []external.Step{i.launch(obj)}, nil
	}
	if err := contradiction(obj, seen); err != nil {
		return nil, err
	}
	var steps []external.Step
	if !observed(obj) {
		steps = i.planTags(obj, seen) // first: ownership is marked before anything else is changed
	}
	switch seen.state() {
	case ec2types.InstanceStateNamePending:
		return steps, engine.Wait("Pending", settlingPace, "EC2 is starting the instance")
	case ec2types.InstanceStateNameStopping:
		return steps, engine.Wait("Stopping", settlingPace, "EC2 is stopping the instance")
	case ec2types.InstanceStateNameShuttingDown, ec2types.InstanceStateNameTerminated:
		return nil, engine.Wait("ShuttingDown", settlingPace, "the instance is being terminated; nothing can be changed any more")
	case ec2types.InstanceStateNameRunning, ec2types.InstanceStateNameStopped:
	}
	steps = append(steps, i.planCalls(obj, seen)...)
	storage, storageRest := i.planVolumes(obj, seen)
	machine, machineRest := i.planPower(obj, seen)
	steps = append(append(steps, storage...), machine...)
	if machineRest != nil {
		return steps, machineRest
	}
	return steps, storageRest
}

func observed(obj *v1alpha1.EC2Instance) bool {
	return obj.Spec.ManagementPolicy == v1alpha1.ManagementObserve
}

// contradiction finds what differs and can never be brought in line: an instance of an earlier life, or one that is taken
// over, may be another machine altogether.
func contradiction(obj *v1alpha1.EC2Instance, seen *instanceState) error {
	s, vm := &obj.Spec, &seen.vm
	for _, fixed := range []struct{ path, want, have string }{
		{"imageID", s.ImageID, aws.ToString(vm.ImageId)},
		{"keyName", s.KeyName, aws.ToString(vm.KeyName)},
		{"subnetID", s.SubnetID, aws.ToString(vm.SubnetId)},
	} {
		if fixed.want != "" && fixed.want != fixed.have {
			return differs(seen, fixed.path, fixed.have, fixed.want)
		}
	}
	for _, m := range s.BlockDeviceMappings {
		v, there := seen.volumes[m.DeviceName]
		if there && m.Encrypted != nil && *m.Encrypted && !aws.ToBool(v.Encrypted) {
			return differs(seen, volumePath(m.DeviceName, "encrypted"), "false", "true")
		}
	}
	return nil
}

func differs(seen *instanceState, path, have, want string) error {
	return engine.Blocked("ImmutableDiffers", "the instance %s that is there differs in what EC2 cannot change: %s is %s, not %s; nothing was changed. Request it as it is, or delete this object and request a new one",
		seen.id(), path, external.Shown(have), want)
}

func (i *instance) planTags(obj *v1alpha1.EC2Instance, seen *instanceState) []external.Step {
	change, id := i.session.PlanTags(obj, ownTags(obj), seen.tags), seen.id()
	var steps []external.Step
	if len(change.Set) > 0 {
		steps = append(steps, external.Step{Name: "CreateTags", Why: change.Why, Sets: change.Sets(), Do: func(ctx context.Context) error {
			_, err := i.svc.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: tagList(change.Set)})
			return explain(err)
		}})
	}
	if len(change.Remove) > 0 {
		steps = append(steps, external.Step{Name: "DeleteTags", Why: change.Why, Do: func(ctx context.Context) error {
			in := &ec2.DeleteTagsInput{Resources: []string{id}}
			for _, key := range change.Remove {
				in.Tags = append(in.Tags, ec2types.Tag{Key: aws.String(key)})
			}
			_, err := i.svc.DeleteTags(ctx, in)
			return explain(err)
		}})
	}
	return steps
}
