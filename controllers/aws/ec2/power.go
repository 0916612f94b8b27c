package ec2

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

const (
	typePath      = "instanceType"
	optimizedPath = "ebsOptimized"
)

// offline are the fields that EC2 changes only while the instance is stopped. Removing them from the spec does not stop
// it.
var offline = []setting{
	{
		Path: typePath, Sticky: true,
		Want: external.Text(func(o object) string { return o.Spec.InstanceType }),
		Have: func(seen *instanceState) string { return string(seen.vm.InstanceType) },
	},
	{
		Path: optimizedPath, Sticky: true,
		Want: external.Bool(func(o object) *bool { return o.Spec.EBSOptimized }),
		Have: func(seen *instanceState) string { return strconv.FormatBool(aws.ToBool(seen.vm.EbsOptimized)) },
	},
}

// Power states in a spec.
const (
	powerRunning = "Running"
	powerStopped = "Stopped"
)

var power = []setting{{
	Path: "state", Sticky: true,
	Want: external.Text(func(o object) string { return o.Spec.State }),
	Have: func(seen *instanceState) string {
		if seen.state() == ec2types.InstanceStateNameStopped {
			return powerStopped
		}
		return powerRunning
	},
}}

// planPower plans the changes of the type and the power state, of an instance that is running or stopped.
func (i *instance) planPower(obj *v1alpha1.EC2Instance, seen *instanceState) ([]external.Action, error) {
	changes := external.Changes(offline, obj, seen)
	toggle := external.Changes(power, obj, seen)
	stopped := seen.state() == ec2types.InstanceStateNameStopped
	switch {
	case len(changes) > 0 && (stopped || external.ObserveOnly(obj)):
		return i.modifyStopped(seen, changes), nil
	case len(changes) > 0 && len(toggle) == 0:
		return i.stopToChange(obj, seen, changes)
	case len(toggle) > 0 && stopped:
		return []external.Action{i.start(seen, external.Describe(toggle), toggle...)}, nil
	case len(toggle) > 0:
		return []external.Action{i.stop(seen, external.Describe(toggle), toggle...)}, nil
	case stopped && obj.Status.RestartAfterChange && obj.Spec.State == "":
		return []external.Action{i.start(seen, "state Stopped → Running, after the change that it was stopped for")},
			nil
	case stopped && obj.Spec.State == "":
		return nil, stoppedUnasked(obj)
	}
	return nil, nil
}

// stoppedUnasked returns the error for an instance that is stopped while the spec sets no state: it serves nobody.
func stoppedUnasked(obj *v1alpha1.EC2Instance) error {
	if external.ObserveOnly(obj) {
		return engine.Blocked(v1alpha1.ReasonStopped, "the instance is stopped, and state is not set. Start it in "+
			"AWS, or set state: Stopped if it is meant to be stopped; managementPolicy Observe changes nothing")
	}
	return engine.Blocked(v1alpha1.ReasonStopped, "the instance is stopped, and state is not set. Set state: Running "+
		"to have it started, or state: Stopped to keep it stopped; or start it in AWS")
}

// stopToChange stops a running instance for a change, if the spec allows it. That the instance must be started again is
// recorded first, in the status, which is saved before the next pass; with state Running the spec already says so.
func (i *instance) stopToChange(obj *v1alpha1.EC2Instance, seen *instanceState, changes []external.Change) (
	[]external.Action, error,
) {
	why := external.Describe(changes)
	switch {
	case !obj.Spec.AllowStop:
		return nil, engine.Blocked(v1alpha1.ReasonStopNeeded, "%s needs the instance to be stopped; nothing was "+
			"stopped. Set allowStop: true to let Portico stop and start it, or state: Stopped to stop it yourself at "+
			"a time that suits", why)
	case obj.Spec.State == "" && !obj.Status.RestartAfterChange:
		return nil, engine.Wait(v1alpha1.ReasonStopPlanned, 100*time.Millisecond,
			"%s: the instance is stopped for it, and started again", why)
	}
	action := i.stop(seen, "state Running → Stopped, for "+why)
	take := action.Do
	action.Do = func(ctx context.Context) error {
		if err := i.checkType(ctx, seen, changes); err != nil {
			return err
		}
		return take(ctx)
	}
	return []external.Action{action}, nil
}

// restart reports whether the instance must be started again after a change that it was, or will be, stopped for.
func restart(obj *v1alpha1.EC2Instance, seen *instanceState) bool {
	pending := len(external.Changes(offline, obj, seen)) > 0
	switch {
	case obj.Spec.State != "" || external.ObserveOnly(obj):
		return false
	case seen.state() != ec2types.InstanceStateNameRunning:
		return obj.Status.RestartAfterChange
	}
	return pending && obj.Spec.AllowStop
}

// modifyStopped changes one attribute per call, because EC2 accepts no more. ebsOptimized is switched off before the
// type changes, because the new type may not support it.
func (i *instance) modifyStopped(seen *instanceState, changes []external.Change) []external.Action {
	if last := len(changes) - 1; last > 0 && changes[last].Path == optimizedPath && changes[last].To == "false" {
		changes = slices.Clone(changes)
		slices.Reverse(changes)
	}
	actions := make([]external.Action, 0, len(changes))
	for _, c := range changes {
		in := &ec2.ModifyInstanceAttributeInput{InstanceId: seen.vm.InstanceId}
		if c.Path == typePath {
			in.InstanceType = &ec2types.AttributeValue{Value: aws.String(c.To)}
		} else {
			in.EbsOptimized = &ec2types.AttributeBooleanValue{Value: aws.Bool(c.To == "true")}
		}
		actions = append(actions, external.Action{
			Name: "ModifyInstanceAttribute",
			Why:  external.Describe([]external.Change{c}), Changes: []external.Change{c},
			Do: func(ctx context.Context) error {
				return startIneffective(explain(i.modify(ctx, in)))
			},
		})
	}
	return actions
}

// startIneffective adds to a refused change that the instance stays stopped.
func startIneffective(err error) error {
	if wait, ok := engine.AsWait(err); ok && wait.Stalled {
		return engine.Blocked(wait.Reason, "%w. The instance stays stopped meanwhile", wait.Err)
	}
	return err
}

func (i *instance) start(seen *instanceState, why string, sets ...external.Change) external.Action {
	return external.Action{Name: "StartInstances", Why: why, Changes: sets, Do: func(ctx context.Context) error {
		_, err := i.svc.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: []string{seen.id()}})
		return explain(err)
	}}
}

func (i *instance) stop(seen *instanceState, why string, sets ...external.Change) external.Action {
	return external.Action{Name: "StopInstances", Why: why, Changes: sets, Do: func(ctx context.Context) error {
		return i.stopInstance(ctx, seen)
	}}
}
