// Package ec2 manages the EC2 kinds.
package ec2

import (
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

// Settling is how long EC2 may report that an instance does not exist after it was launched or terminated: the API
// reference of both calls gives no time, and its guide to eventual consistency advises to retry for up to five minutes.
const Settling = 5 * time.Minute

// instance adapts EC2Instance for one pass.
type instance struct {
	svc        *service
	session    *cloud.Session
	kube       external.Kube
	now        func() time.Time
	terminated bool // see Terminated
}

var (
	_ external.TagRestorer[*v1alpha1.EC2Instance, instanceState] = (*instance)(nil)
	_ external.SafePather[*v1alpha1.EC2Instance, instanceState]  = (*instance)(nil)
	_ external.Stopper[*v1alpha1.EC2Instance, instanceState]     = (*instance)(nil)
	_ external.DeletionObserver[instanceState]                   = (*instance)(nil)
	_ external.TerminationObserver                               = (*instance)(nil)
	_ external.Retrier[*v1alpha1.EC2Instance]                    = (*instance)(nil)
)

// Instance returns the adapter of EC2Instance for one pass.
func Instance(session *cloud.Session, kube external.Kube) external.Adapter[*v1alpha1.EC2Instance, instanceState] {
	return &instance{svc: serviceFor(session), session: session, kube: kube, now: session.Now}
}

// Owner determines ownership by the tags.
func (i *instance) Owner(obj *v1alpha1.EC2Instance, seen *instanceState) external.Owner {
	return i.session.Identity.Owner(obj, seen.tags)
}

// RestoreCommand implements external.TagRestorer.
func (i *instance) RestoreCommand(obj *v1alpha1.EC2Instance, seen *instanceState) string {
	marks := i.session.Identity.LostMarks(obj, seen.tags)
	if marks == nil {
		return ""
	}
	return i.session.Command(ec2.ServiceID, "ec2", "create-tags", "--resources", seen.id(), "--tags",
		cloud.TagText(marks))
}

// Declared lists the spec paths in use.
func (i *instance) Declared(obj *v1alpha1.EC2Instance) []string {
	paths := append(external.DeclaredPaths(settingsOf(obj), obj), i.session.TagPaths(obj, ownTags(obj))...)
	slices.Sort(paths)
	return paths
}

// SafePaths implements external.SafePather.
func (i *instance) SafePaths(obj *v1alpha1.EC2Instance, seen *instanceState) []string {
	return external.SafePaths(settingsOf(obj), seen)
}

// ownTags returns the spec's tags, with the tag Name for the instance's name.
func ownTags(obj *v1alpha1.EC2Instance) v1alpha1.Tags {
	own := v1alpha1.Tags{"Name": v1alpha1.TagValue(obj.Spec.InstanceName)}
	maps.Copy(own, obj.Spec.Tags)
	return own
}

// Terminated implements external.TerminationObserver: EC2 shows a terminated instance for about an hour.
func (i *instance) Terminated() bool { return i.terminated }

// NextAttempt implements external.Retrier.
func (i *instance) NextAttempt(obj *v1alpha1.EC2Instance) { obj.Status.LaunchAttempts++ }

// Reserve records where the instance will be. EC2 chooses the ID; until it is known, the instance is found by its tags.
// The ID of an adopted instance is recorded at once: no search finds it until its new tags show.
func (i *instance) Reserve(obj *v1alpha1.EC2Instance, seen *instanceState) {
	s := &obj.Status
	s.Region, s.AccountID = i.session.Config.Region, i.session.AccountID
	if seen != nil {
		s.ARN, s.InstanceID = arn(i.session, seen.id()), seen.id()
	}
}

// stateChangePoll is the poll interval while an instance starts or stops.
const stateChangePoll = 5 * time.Second

// Plan compares the spec with the observed state, and returns the actions and what remains afterwards.
func (i *instance) Plan(obj *v1alpha1.EC2Instance, seen *instanceState) ([]external.Action, error) {
	if seen == nil {
		return []external.Action{i.launch(obj)}, nil
	}
	if err := checkImmutable(obj, seen); err != nil {
		return nil, err
	}
	var actions []external.Action
	if !external.ObserveOnly(obj) {
		actions = i.planTags(obj, seen) // first: ownership is marked before anything else is changed
	}
	switch seen.state() {
	case ec2types.InstanceStateNamePending:
		return actions, engine.Wait(v1alpha1.ReasonPending, stateChangePoll, "EC2 is starting the instance")
	case ec2types.InstanceStateNameStopping:
		return actions, engine.Wait(v1alpha1.ReasonStopping, stateChangePoll, "EC2 is stopping the instance")
	case ec2types.InstanceStateNameShuttingDown, ec2types.InstanceStateNameTerminated:
		return nil, engine.Wait(v1alpha1.ReasonShuttingDown, stateChangePoll,
			"the instance is being terminated; nothing can be changed any more")
	case ec2types.InstanceStateNameRunning, ec2types.InstanceStateNameStopped:
	}
	actions = append(actions, i.planCalls(obj, seen)...)
	storage, storageRest := i.planVolumes(obj, seen)
	machine, machineRest := i.planPower(obj, seen)
	actions = append(append(actions, storage...), machine...)
	if machineRest != nil {
		return actions, machineRest
	}
	return actions, storageRest
}

// checkImmutable returns an error if a field differs that EC2 cannot change: the instance of an earlier object, or an
// adopted one, may be another machine altogether.
func checkImmutable(obj *v1alpha1.EC2Instance, seen *instanceState) error {
	for _, c := range external.Changes(fixed, obj, seen) {
		return immutableDiffers(seen, c.Path, c.From, c.To)
	}
	for _, m := range obj.Spec.BlockDeviceMappings {
		v, there := seen.volumes[m.DeviceName]
		if there && m.Encrypted != nil && *m.Encrypted && !aws.ToBool(v.Encrypted) {
			return immutableDiffers(seen, volumePath(m.DeviceName, "encrypted"), "false", "true")
		}
	}
	return nil
}

func immutableDiffers(seen *instanceState, path, have, want string) error {
	return engine.Blocked(v1alpha1.ReasonImmutableDiffers, "the instance %s that is there differs in what EC2 cannot "+
		"change: %s is %s, not %s; nothing was changed. Request it as it is, or delete this object and request a "+
		"new one",
		seen.id(), path, external.OrNone(have), want)
}

func (i *instance) planTags(obj *v1alpha1.EC2Instance, seen *instanceState) []external.Action {
	actions := i.session.PlanTags(obj, ownTags(obj), seen.tags).Actions(i.tagCalls(seen.id(), explain))
	for n := range actions {
		actions[n] = actions[n].SettlingIn(Settling)
	}
	return actions
}
