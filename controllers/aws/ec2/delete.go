package ec2

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// Delete terminates the instance. Termination protection is honoured: it is switched off only if the owner says so. A
// successful call confirms nothing: only the state terminated does.
func (i *instance) Delete(ctx context.Context, obj *v1alpha1.EC2Instance, seen *instanceState) (
	confirmed bool, err error,
) {
	return false, i.remove(ctx, obj, seen)
}

// Deleting implements external.DeletionObserver.
func (i *instance) Deleting(seen *instanceState) bool { return seen.ended() }

func (i *instance) remove(ctx context.Context, obj *v1alpha1.EC2Instance, seen *instanceState) error {
	obj.Status.ARN, obj.Status.InstanceID = arn(i.session, seen.id()), seen.id() // to observe its end
	if seen.ended() {
		return nil
	}
	if err := i.keepVolumes(ctx, obj, seen); err != nil {
		return err
	}
	err := i.terminate(ctx, seen)
	if cloud.HasCode(err, operationNotPermitted) {
		if p := obj.Spec.DisableAPITermination; p == nil || *p {
			return engine.Blocked(v1alpha1.ReasonTerminationProtected,
				"the instance %s is protected against termination; nothing was deleted. Set disableApiTermination: "+
					"false to have it deleted", seen.id())
		}
		if err := i.protect(ctx, seen, false); err != nil {
			return explain(err)
		}
		err = i.terminate(ctx, seen)
	}
	if cloud.IsNotFound(err) {
		return nil
	}
	return explain(err)
}

// keepVolumes makes the volumes that the spec keeps outlive the instance, whatever AWS has set.
func (i *instance) keepVolumes(ctx context.Context, obj *v1alpha1.EC2Instance, seen *instanceState) error {
	for _, m := range obj.Spec.BlockDeviceMappings {
		if m.DeleteOnTermination == nil || *m.DeleteOnTermination {
			continue
		}
		for _, has := range seen.vm.BlockDeviceMappings {
			if aws.ToString(has.DeviceName) != m.DeviceName || has.Ebs == nil ||
				!aws.ToBool(has.Ebs.DeleteOnTermination) {
				continue
			}
			if err := i.setDeleteOnTermination(seen, m.DeviceName, []external.Change{{To: "false"}}).Do(
				ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *instance) terminate(ctx context.Context, seen *instanceState) error {
	_, err := i.svc.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{seen.id()}})
	return err
}

// Stop implements external.Stopper.
func (i *instance) Stop(ctx context.Context, _ *v1alpha1.EC2Instance, seen *instanceState) (bool, error) {
	switch seen.state() {
	case ec2types.InstanceStateNameStopped, ec2types.InstanceStateNameShuttingDown,
		ec2types.InstanceStateNameTerminated:
		return true, nil
	case ec2types.InstanceStateNameRunning:
		return false, i.stopInstance(ctx, seen)
	default:
		return false, nil // it is starting or stopping: wait
	}
}

func (i *instance) stopInstance(ctx context.Context, seen *instanceState) error {
	_, err := i.svc.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: []string{seen.id()}})
	switch {
	case cloud.HasCode(err, operationNotPermitted):
		return engine.Blocked(v1alpha1.ReasonStopProtected, "the instance %s is protected against being stopped; "+
			"nothing was stopped. Ask somebody with access to AWS to switch off its stop protection (disableApiStop)",
			seen.id())
	case cloud.HasCode(err, "UnsupportedOperation"):
		return engine.Blocked(v1alpha1.ReasonCannotStop, "the instance %s cannot be stopped, because its root device "+
			"is an instance store, or for another reason that EC2 gives in its console; nothing was stopped", seen.id())
	}
	return explain(err)
}

// Disown removes our tags from the instance, and then from those of its volumes that carry them. All others stay: a tag
// is removed only if it has our value. The volumes are read first: once the instance is disowned, there is no other
// pass.
func (i *instance) Disown(ctx context.Context, obj *v1alpha1.EC2Instance, seen *instanceState) error {
	volumes, err := i.svc.readVolumes(ctx, []string{seen.id()})
	if err != nil {
		return explain(err)
	}
	if err := i.untag(ctx, seen.id(), seen.tags); err != nil {
		return explain(err)
	}
	var failed error
	for _, v := range volumes[seen.id()] {
		tags := tagMap(v.Tags)
		if owner := i.session.Identity.Owner(obj, tags); owner != external.Ours && owner != external.Earlier {
			continue
		}
		if err := i.untag(ctx, aws.ToString(v.VolumeId), tags); err != nil &&
			!cloud.HasCode(err, "InvalidVolume.NotFound") {
			failed = err
		}
	}
	return explain(failed)
}

func (i *instance) untag(ctx context.Context, id string, tags map[string]string) error {
	ours := map[string]string{}
	for _, key := range cloud.OwnershipTagKeys(tags) {
		ours[key] = tags[key]
	}
	if len(ours) == 0 {
		return nil // without a list EC2 would remove every tag
	}
	_, err := i.svc.DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: []string{id}, Tags: tagList(ours)})
	return err
}
