package ec2

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// settled returns an object whose instance exists and matches the spec.
func settled(t *testing.T, f *fakeEC2, change ...func(*v1alpha1.EC2InstanceSpec)) (*instance, *v1alpha1.EC2Instance) {
	t.Helper()
	a, obj := adapterOf(f), objectOf(change...)
	if err := settle(t, f, a, obj); err != nil {
		t.Fatal(err)
	}
	obj.Status.ManagedFields, f.calls = a.Declared(obj), nil
	return a, obj
}

// writesOf returns the calls that change something.
func writesOf(f *fakeEC2) []string {
	return slices.DeleteFunc(slices.Clone(f.calls), func(call string) bool { return call[:8] == "Describe" })
}

func TestATypeIsNotChangedUnasked(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f)
	obj.Spec.InstanceType, obj.Spec.Monitoring = "t3.large", aws.Bool(true)
	wantPause(t, settle(t, f, a, obj), "StopNeeded", "instanceType t3.micro → t3.large", "allowStop: true",
		"state: Stopped", "nothing was stopped")
	if !slices.Equal(writesOf(f), []string{"MonitorInstances"}) || obj.Status.RestartAfterChange {
		t.Errorf("calls %v", f.calls)
	}
}

// Each pass may be the last before a crash: that an instance must be started again is saved before it is stopped.
func TestATypeChangesWithConsent(t *testing.T) {
	f := &fakeEC2{slow: true, types: map[string]ec2types.ArchitectureType{"t3.large": ec2types.ArchitectureTypeX8664}}
	a, obj := adapterOf(f), objectOf(allowed)
	wantPause(t, settle(t, f, a, obj), "Pending")
	f.finish()
	if err := settle(t, f, a, obj); err != nil {
		t.Fatal(err)
	}
	obj.Spec.InstanceType, obj.Spec.EBSOptimized, f.calls = "t3.large", aws.Bool(true), nil
	wantPause(t, settle(t, f, a, obj), "StopPlanned")
	if !obj.Status.RestartAfterChange || len(writesOf(f)) != 0 {
		t.Fatalf("noted %v, calls %v", obj.Status.RestartAfterChange, f.calls)
	}
	obj = obj.DeepCopy() // another pass, of another process
	step := func() {
		t.Helper()
		actions, _ := a.Plan(obj, observe(t, a, obj))
		for _, s := range actions {
			if err := s.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	step()
	_, err := a.Plan(obj, observe(t, a, obj))
	wantPause(t, err, "Stopping")
	f.finish()
	step()
	step()
	a.Report(obj, observe(t, a, obj))
	if !obj.Status.RestartAfterChange {
		t.Error("forgotten while it starts")
	}
	f.finish()
	if err := settle(t, f, a, obj); err != nil || obj.Status.RestartAfterChange {
		t.Errorf("%v, still to be restarted: %v", err, obj.Status.RestartAfterChange)
	}
	want := []string{"StopInstances", "ModifyInstanceAttribute", "ModifyInstanceAttribute", "StartInstances"}
	if !slices.Equal(writesOf(f), want) || f.last().vm.InstanceType != "t3.large" {
		t.Errorf("calls %v", writesOf(f))
	}
}

func TestAStopIsNotForNothing(t *testing.T) {
	f := &fakeEC2{types: map[string]ec2types.ArchitectureType{"t4g.micro": ec2types.ArchitectureTypeArm64}}
	a, obj := settled(t, f, allowed, running)
	obj.Spec.InstanceType = "t4g.micro"
	actions, _ := a.Plan(obj, observe(t, a, obj))
	wantPause(t, actions[0].Do(t.Context()), "TypeDoesNotFit", "x86_64", "arm64", "nothing was stopped")
	obj.Spec.InstanceType = "t3.none"
	actions, _ = a.Plan(obj, observe(t, a, obj))
	wantPause(t, actions[0].Do(t.Context()), "TypeNotOffered", "t3.none", region+"a")
	obj.Spec.InstanceType = "t3.micro"
	for support, want := range map[ec2types.EbsOptimizedSupport]bool{
		ec2types.EbsOptimizedSupportDefault:     false,
		ec2types.EbsOptimizedSupportUnsupported: true,
	} {
		f.optimized, f.last().vm.EbsOptimized, obj.Spec.EBSOptimized = support, aws.Bool(!want), &want
		actions, _ = a.Plan(obj, observe(t, a, obj))
		wantPause(t, actions[0].Do(t.Context()), "NoChoice", "t3.micro", "Remove ebsOptimized")
	}
	if len(writesOf(f)) != 0 {
		t.Errorf("calls %v", f.calls)
	}
}

func TestATypeMustSuitTheImage(t *testing.T) {
	info := &ec2types.InstanceTypeInfo{
		SupportedVirtualizationTypes: []ec2types.VirtualizationType{ec2types.VirtualizationTypeHvm},
		NetworkInfo:                  &ec2types.NetworkInfo{EnaSupport: ec2types.EnaSupportRequired},
	}
	seen := &instanceState{vm: ec2types.Instance{
		VirtualizationType: ec2types.VirtualizationTypeParavirtual,
		EnaSupport:         aws.Bool(true),
	}}
	wantPause(t, checkCompatible(info, seen, "m5.large", ""), "TypeDoesNotFit", "paravirtual", "nothing was stopped")
	seen.vm.VirtualizationType, seen.vm.EnaSupport = ec2types.VirtualizationTypeHvm, aws.Bool(false)
	wantPause(t, checkCompatible(info, seen, "m5.large", ""), "TypeDoesNotFit", "ENA", "nothing was stopped")
	seen.vm.EnaSupport = aws.Bool(true)
	if err := checkCompatible(info, seen, "m5.large", ""); err != nil {
		t.Error(err)
	}
}

func TestAChangeWhileStoppedNeedsNoConsentAndStartsNothing(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f)
	f.last().to(ec2types.InstanceStateNameStopped)
	obj.Spec.InstanceType = "t3.large"
	wantPause(t, settle(t, f, a, obj), "Stopped")
	if obj.Status.InstanceState != "stopped" || obj.Status.InstanceType != "t3.large" {
		t.Errorf("%s, %s", obj.Status.InstanceState, obj.Status.InstanceType)
	}
	if !slices.Equal(writesOf(f), []string{"ModifyInstanceAttribute"}) {
		t.Errorf("calls %v", f.calls)
	}
}

// A type that cannot reserve bandwidth is refused while ebsOptimized is on; a type that always reserves it switches
// that on by itself.
func TestBandwidthIsGivenUpBeforeTheTypeChanges(t *testing.T) {
	for _, optimized := range []bool{false, true} {
		f := &fakeEC2{}
		a, obj := settled(t, f, stopped, func(s *v1alpha1.EC2InstanceSpec) { s.EBSOptimized = aws.Bool(!optimized) })
		obj.Spec.InstanceType, obj.Spec.EBSOptimized = "t2.micro", &optimized
		actions, err := a.Plan(obj, observe(t, a, obj))
		if err != nil || len(actions) != 2 || strings.HasPrefix(actions[0].Why, "ebsOptimized") == optimized {
			t.Errorf("to %v: %v, %+v", optimized, err, actions)
		}
	}
}

func TestARefusedChangeSaysThatTheInstanceIsStopped(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, stopped)
	obj.Spec.InstanceType, f.refuse = "t3.large",
		map[string]error{"ModifyInstanceAttribute": code("InvalidInstanceAttributeValue")}
	actions, _ := a.Plan(obj, observe(t, a, obj))
	wantPause(t, actions[0].Do(t.Context()), "InvalidSpec", "InvalidInstanceAttributeValue", "stays stopped")
}

func TestAnIntentionToRestartIsForgottenWhenItIsMoot(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, allowed)
	for name, change := range map[string]func(*v1alpha1.EC2InstanceSpec){
		"the type is back":     func(s *v1alpha1.EC2InstanceSpec) { s.InstanceType = "t3.micro" },
		"consent is withdrawn": func(s *v1alpha1.EC2InstanceSpec) { s.AllowStop = false },
		"it is to be stopped":  stopped,
	} {
		obj.Spec = objectOf(allowed).Spec
		obj.Spec.InstanceType = "t3.large"
		seen := observe(t, a, obj)
		a.Report(obj, seen)
		if !obj.Status.RestartAfterChange {
			t.Fatalf("%s: not noted", name)
		}
		change(&obj.Spec)
		a.Report(obj, seen)
		if obj.Status.RestartAfterChange {
			t.Errorf("%s: still noted", name)
		}
	}
}

func TestThePowerStateIsTheOwnersIfTheSpecIsSilent(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f)
	f.last().to(ec2types.InstanceStateNameStopped)
	wantPause(t, settle(t, f, a, obj), "Stopped", "state is not set", "state: Running", "state: Stopped")
	if len(writesOf(f)) != 0 || obj.Status.InstanceState != "stopped" {
		t.Errorf("calls %v, %s", f.calls, obj.Status.InstanceState)
	}
	obj.Spec.ManagementPolicy = v1alpha1.ManagementObserve
	wantPause(t, settle(t, f, a, obj), "Stopped", "Start it in AWS", "Observe changes nothing")
	obj.Spec.ManagementPolicy = ""
	running(&obj.Spec)
	if err := settle(t, f, a, obj); err != nil || obj.Status.InstanceState != "running" {
		t.Errorf("%v, %s", err, obj.Status.InstanceState)
	}
	f.refuse = map[string]error{"StopInstances": code("OperationNotPermitted")}
	stopped(&obj.Spec)
	actions, _ := a.Plan(obj, observe(t, a, obj))
	wantPause(t, actions[0].Do(t.Context()), "StopProtected", "disableApiStop")
	f.refuse["StopInstances"] = code("UnsupportedOperation")
	wantPause(t, actions[0].Do(t.Context()), "CannotStop", "instance store")
}

func TestStopAsADeletionPolicy(t *testing.T) {
	f := &fakeEC2{slow: true}
	a, obj := adapterOf(f), objectOf()
	wantPause(t, settle(t, f, a, obj), "Pending")
	deleting(obj)
	look := func(want bool, calls ...string) {
		t.Helper()
		seen := observe(t, a, obj)
		f.calls = nil
		if done, err := a.Stop(t.Context(), obj, seen); err != nil || done != want || !slices.Equal(f.calls, calls) {
			t.Errorf("%s: stopped %v, %v, calls %v", seen.state(), done, err, f.calls)
		}
	}
	look(false) // pending: EC2 would refuse
	f.finish()
	look(false, "StopInstances")
	look(false)
	f.finish()
	look(true)
	f.last().to(ec2types.InstanceStateNameShuttingDown)
	look(true)
}

// A volume that the spec keeps is kept even if somebody has set AWS to delete it with the machine.
func TestVolumesThatTheSpecKeepsOutliveTheInstance(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, func(s *v1alpha1.EC2InstanceSpec) {
		s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{
			{DeviceName: extra, VolumeSize: aws.Int32(10), DeleteOnTermination: aws.Bool(false)},
			{DeviceName: root, VolumeSize: aws.Int32(10), DeleteOnTermination: aws.Bool(true)},
		}
	})
	f.last().keep(extra, true)
	if err := a.remove(t.Context(), obj, observe(t, a, obj)); err != nil {
		t.Fatal(err)
	}
	for _, m := range f.last().vm.BlockDeviceMappings {
		if deleted := aws.ToBool(m.Ebs.DeleteOnTermination); deleted != (*m.DeviceName == root) {
			t.Errorf("the volume at %s is deleted with the instance: %v", *m.DeviceName, deleted)
		}
	}
}

func TestTerminationProtection(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f)
	f.last().protected = true
	seen := observe(t, a, obj)
	wantPause(t, a.remove(t.Context(), obj, seen), "TerminationProtected", "disableApiTermination: false",
		"nothing was deleted")
	obj.Spec.DisableAPITermination = aws.Bool(true)
	wantPause(t, a.remove(t.Context(), obj, seen), "TerminationProtected")
	if !f.last().protected {
		t.Error("the protection was switched off unasked")
	}
	obj.Spec.DisableAPITermination = aws.Bool(false)
	if err := a.remove(t.Context(), obj, seen); err != nil ||
		f.last().vm.State.Name != ec2types.InstanceStateNameTerminated {
		t.Errorf("%v, %s", err, f.last().vm.State.Name)
	}
	f.calls = nil
	seen.vm.State = &ec2types.InstanceState{Name: ec2types.InstanceStateNameShuttingDown}
	if err := a.remove(t.Context(), obj, seen); err != nil || len(f.calls) != 0 {
		t.Errorf("%v; asked again: %v", err, f.calls)
	}
}
