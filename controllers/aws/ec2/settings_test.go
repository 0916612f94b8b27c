package ec2

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"pgregory.net/rapid"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func TestRemovedFieldsGoBackOnce(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, full, running, func(s *v1alpha1.EC2InstanceSpec) {
		s.MetadataOptions.HTTPTokens, s.DisableAPITermination = "optional", aws.Bool(true)
	})
	obj.Spec = objectOf(func(s *v1alpha1.EC2InstanceSpec) {
		s.KeyName, s.SubnetID, s.UserData = "key", "subnet-1", "#!/bin/sh"
	}).Spec
	if err := settle(t, f, a, obj); err != nil {
		t.Fatal(err)
	}
	m := f.last()
	if m.vm.IamInstanceProfile != nil || m.vm.Monitoring.State != ec2types.MonitoringStateDisabling ||
		m.vm.MetadataOptions.HttpTokens != ec2types.HttpTokensStateRequired {
		t.Errorf("profile %v, monitoring %s, tokens %s", m.vm.IamInstanceProfile, m.vm.Monitoring.State,
			m.vm.MetadataOptions.HttpTokens)
	}
	if v := m.volumes[extra]; *v.Iops != 3000 || *v.Throughput != 125 || *v.Size != 10 {
		t.Errorf("volume %d IOPS, %d MiB/s, %d GiB", *v.Iops, *v.Throughput, *v.Size)
	}
	if m.vm.State.Name != ec2types.InstanceStateNameRunning || !m.protected || !*m.vm.EbsOptimized {
		t.Errorf("State = %s, protected %v, EbsOptimized = %v, want running, true, true: AWS has no default",
			m.vm.State.Name, m.protected, *m.vm.EbsOptimized)
	}
	groups, hops := len(m.vm.SecurityGroups), *m.vm.MetadataOptions.HttpPutResponseHopLimit
	if groups != 2 || hops != 2 {
		t.Errorf("%d security groups, hop limit %d, want 2, 2: AWS has no default", groups, hops)
	}
	if team := m.tags["team"]; team != "" {
		t.Errorf("tag team = %q, want none", team)
	}
	obj.Status.ManagedFields, f.calls = a.Declared(obj), nil
	m.associate(profileOf("by-hand")) // no longer managed
	m.protected, *m.volumes[extra].Iops = false, 5000
	if err := settle(t, f, a, obj); err != nil || !slices.Equal(f.calls, []string{"DescribeInstances"}) {
		t.Errorf("%v; an unmanaged field was looked at: %v", err, f.calls)
	}
}

func TestOnlyFalseLiftsTheProtection(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, func(s *v1alpha1.EC2InstanceSpec) { s.DisableAPITermination = aws.Bool(true) })
	obj.Spec.DisableAPITermination = nil
	if err := settle(t, f, a, obj); err != nil || len(writesOf(f)) != 0 || !f.last().protected {
		t.Errorf("%v; protected %v after calls %v", err, f.last().protected, writesOf(f))
	}
	obj.Spec.DisableAPITermination = aws.Bool(false)
	if err := settle(t, f, a, obj); err != nil || f.last().protected {
		t.Errorf("%v; protected %v", err, f.last().protected)
	}
}

func TestProfilesCompareByName(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, func(s *v1alpha1.EC2InstanceSpec) { s.IAMInstanceProfile = "web" })
	const arn = "arn:aws:iam::" + account + ":instance-profile/path/web"
	obj.Spec.IAMInstanceProfile = arn
	if err := settle(t, f, a, obj); err != nil || len(writesOf(f)) != 0 {
		t.Errorf("%v, calls %v", err, f.calls)
	}
	obj.Spec.IAMInstanceProfile = "eb" // must not match the end of a name
	if err := settle(t, f, a, obj); err != nil ||
		!slices.Equal(writesOf(f), []string{"ReplaceIamInstanceProfileAssociation"}) {
		t.Errorf("%v, calls %v", err, f.calls)
	}
}

func TestAProfileThatIsNotThere(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, func(s *v1alpha1.EC2InstanceSpec) { s.IAMInstanceProfile = "web" })
	obj.Spec.IAMInstanceProfile = "none"
	f.refuse = map[string]error{"ReplaceIamInstanceProfileAssociation": errProfile}
	actions, err := a.Plan(obj, observe(t, a, obj))
	if err != nil || len(actions) != 1 {
		t.Fatalf("%v, %v", actions, err)
	}
	wantPause(t, actions[0].Do(t.Context()), "InvalidSpec", "no instance profile none", "nothing was changed",
		"Correct iamInstanceProfile")
}

func TestMetadataThatIsSwitchedOff(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, func(s *v1alpha1.EC2InstanceSpec) {
		s.MetadataOptions = &v1alpha1.EC2MetadataOptions{HTTPTokens: "required", HTTPPutResponseHopLimit: aws.Int32(2)}
	})
	f.last().option("optional", "disabled", nil)
	if err := settle(t, f, a, obj); err != nil || len(writesOf(f)) != 0 {
		t.Errorf("%v; EC2 refuses options of a service that is off: %v", err, f.calls)
	}
	obj.Spec.MetadataOptions.HTTPEndpoint = "enabled"
	if err := settle(t, f, a, obj); err != nil || len(writesOf(f)) != 1 ||
		f.last().vm.MetadataOptions.HttpTokens != ec2types.HttpTokensStateRequired {
		t.Errorf("%v, calls %v", err, f.calls)
	}
}

func TestMetadataThatIsSwitchedOnNeedsTokens(t *testing.T) {
	for _, row := range []struct{ declared, want string }{{"", "required"}, {"optional", "optional"}} {
		f := &fakeEC2{}
		a, obj := settled(t, f, func(s *v1alpha1.EC2InstanceSpec) {
			s.MetadataOptions = &v1alpha1.EC2MetadataOptions{HTTPEndpoint: "disabled"}
		})
		obj.Spec.MetadataOptions = &v1alpha1.EC2MetadataOptions{HTTPEndpoint: "enabled", HTTPTokens: row.declared}
		err := settle(t, f, a, obj)
		if got := string(f.last().vm.MetadataOptions.HttpTokens); err != nil || got != row.want ||
			len(writesOf(f)) != 1 {
			t.Errorf("declared %q: %v, calls %v, tokens %s", row.declared, err, writesOf(f), got)
		}
	}
}

func TestAnotherMachineIsNotForced(t *testing.T) {
	for path, change := range map[string]func(*machine){
		"imageID":  func(m *machine) { m.vm.ImageId = aws.String("ami-00000000") },
		"keyName":  func(m *machine) { m.vm.KeyName = nil },
		"subnetID": func(m *machine) { m.vm.SubnetId = aws.String("subnet-9") },
		"blockDeviceMappings[/dev/xvda].encrypted": func(m *machine) { m.volumes[root].Encrypted = aws.Bool(false) },
	} {
		f := &fakeEC2{}
		a, obj := settled(t, f, full)
		change(f.last())
		f.last().tags["Name"] = "drift"
		wantPause(t, settle(t, f, a, obj), "ImmutableDiffers", path+" is", "nothing was changed")
		if len(writesOf(f)) != 0 {
			t.Errorf("%s: calls %v", path, f.calls)
		}
	}
}

func TestVolumes(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*fakeEC2, *v1alpha1.EC2InstanceSpec)
		reason string
		calls  []string
	}{
		"grows":             {func(_ *fakeEC2, s *v1alpha1.EC2InstanceSpec) { s.BlockDeviceMappings[1].VolumeSize = aws.Int32(50) }, "", []string{"ModifyVolume"}},
		"was grown by hand": {func(f *fakeEC2, _ *v1alpha1.EC2InstanceSpec) { f.last().volumes[extra].Size = aws.Int32(99) }, "VolumeCannotShrink", nil},
		"is to shrink, and more": {func(_ *fakeEC2, s *v1alpha1.EC2InstanceSpec) {
			s.BlockDeviceMappings[1].VolumeSize, s.BlockDeviceMappings[1].IOPS = aws.Int32(5), aws.Int32(5000)
		}, "VolumeCannotShrink", []string{"ModifyVolume"}},
		"is being changed": {func(f *fakeEC2, s *v1alpha1.EC2InstanceSpec) {
			s.BlockDeviceMappings[1].VolumeSize, f.slow = aws.Int32(50), true
		}, "VolumeModifying", []string{"ModifyVolume"}},
		"was changed a moment ago": {func(f *fakeEC2, s *v1alpha1.EC2InstanceSpec) {
			s.BlockDeviceMappings[1].VolumeSize = aws.Int32(50)
			id := *f.last().volumes[extra].VolumeId
			f.changes = map[string]ec2types.VolumeModification{
				id: {VolumeId: &id, ModificationState: ec2types.VolumeModificationStateOptimizing},
			}
		}, "VolumeModifying", nil},
		"is not there": {func(_ *fakeEC2, s *v1alpha1.EC2InstanceSpec) {
			s.BlockDeviceMappings = append(s.BlockDeviceMappings, v1alpha1.EC2BlockDevice{DeviceName: "/dev/sdz"})
		}, "VolumeMissing", nil},
		"is no longer listed": {func(_ *fakeEC2, s *v1alpha1.EC2InstanceSpec) { s.BlockDeviceMappings = s.BlockDeviceMappings[:1] }, "", []string{"ModifyVolume"}},
		"changes its type": {func(_ *fakeEC2, s *v1alpha1.EC2InstanceSpec) {
			m := &s.BlockDeviceMappings[1]
			m.VolumeType, m.IOPS, m.Throughput = "io2", aws.Int32(8000), nil
		}, "", []string{"ModifyVolume"}},
	} {
		f := &fakeEC2{}
		a, obj := settled(t, f, full)
		row.change(f, &obj.Spec)
		err := settle(t, f, a, obj)
		if row.reason != "" {
			wantPause(t, err, row.reason)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(writesOf(f), row.calls) {
			t.Errorf("%s: calls %v, want %v", name, writesOf(f), row.calls)
		}
	}
}

// When the type changes, EC2 sets settings that the call does not name to defaults of its own.
func TestAnotherVolumeTypeKeepsWhatIsDeclared(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, full)
	m := &obj.Spec.BlockDeviceMappings[1]
	m.VolumeType, m.Throughput = "io2", nil
	if err := settle(t, f, a, obj); err != nil || !slices.Equal(writesOf(f), []string{"ModifyVolume"}) ||
		*f.last().volumes[extra].Iops != 4000 {
		t.Errorf("%v, calls %v, %d IOPS", err, writesOf(f), *f.last().volumes[extra].Iops)
	}
}

func TestAVolumeThatAWSWillNotChangeYet(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, full)
	obj.Spec.BlockDeviceMappings[1].VolumeSize = aws.Int32(50)
	actions, _ := a.Plan(obj, observe(t, a, obj))
	f.refuse = map[string]error{"ModifyVolume": code("VolumeModificationRateExceeded")}
	wantPause(t, actions[0].Do(t.Context()), "VolumeModificationRateExceeded", "volumeSize 10 → 50", "half hour")
	f.refuse["ModifyVolume"] = code("IncorrectModificationState")
	if err := actions[0].Do(t.Context()); err != nil {
		t.Errorf("a change that got through before: %v", err)
	}
}

func TestDisownTakesOurTagsFromOurVolumesToo(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, full)
	m := f.last()
	m.tags["made-by"] = "hand"
	m.volumes["/dev/sdx"] = &ec2types.Volume{
		VolumeId:    aws.String("vol-foreign"),
		Attachments: []ec2types.VolumeAttachment{{InstanceId: m.vm.InstanceId}},
	}
	f.refuse = map[string]error{
		"DeleteTags vol-foreign":                  code("UnauthorizedOperation"),
		"DeleteTags " + *m.volumes[root].VolumeId: code("InvalidVolume.NotFound"),
	}
	if err := a.Disown(t.Context(), obj, observe(t, a, obj)); err != nil {
		t.Fatal(err)
	}
	if want := []string{*m.vm.InstanceId, *m.volumes[extra].VolumeId}; !slices.Equal(f.untagged, want) {
		t.Errorf("untagged %v, want %v", f.untagged, want)
	}
	if m.tags["Name"] != "Worker" || m.tags["made-by"] != "hand" || m.tags["portico.dev/uid"] != "" {
		t.Errorf("left %v", m.tags)
	}
}

// From any state and with any spec, the actions lead to what is declared, and then there is nothing left to do.
func TestPlanConvergesFromAnywhere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := &fakeEC2{types: map[string]ec2types.ArchitectureType{"t3.micro": "x86_64", "t3.large": "x86_64"}}
		a, obj := adapterOf(f), objectOf(full)
		obj.Spec.AllowStop, obj.Spec.State = true, rapid.SampledFrom([]string{"", powerRunning, powerStopped}).Draw(
			r, "state")
		if err := settle(r, f, a, obj); err != nil {
			r.Fatal(err)
		}
		obj.Status.ManagedFields = a.Declared(obj)
		names := sortedKeys(drifts(f))
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(r, "drift") {
			drifts(f)[name]()
		}
		f.last().to(rapid.SampledFrom([]ec2types.InstanceStateName{"running", "stopped"}).Draw(r, "power"))
		before := f.last().vm.State.Name
		undeclare(r, &obj.Spec)
		synced := func() error {
			err := settle(r, f, a, obj)
			undeclared := obj.Spec.State == "" && before == "stopped"
			if p, ok := engine.AsWait(err); ok && p.Reason == "Stopped" && undeclared {
				return nil // only fields differ that the spec does not declare
			}
			return err
		}
		for range 3 { // StopPlanned is a pause between two passes
			if synced() == nil {
				break
			}
		}
		if err := synced(); err != nil {
			r.Fatal("not in sync: ", err)
		}
		if now := f.last().vm.State.Name; obj.Spec.State == "" && now != before || obj.Status.RestartAfterChange {
			r.Fatalf("it was %s and is %s; to be restarted: %v", before, now, obj.Status.RestartAfterChange)
		}
		calls := len(f.calls)
		writes := f.writes
		if err := synced(); err != nil || f.writes != writes {
			r.Fatalf("%v; it wrote again: %v", err, f.calls[calls:])
		}
	})
}

// undeclare removes optional fields at random.
func undeclare(r *rapid.T, s *v1alpha1.EC2InstanceSpec) {
	drop := func(name string) bool { return rapid.Bool().Draw(r, "drop "+name) }
	if drop("groups") {
		s.SecurityGroupIDs = nil
	}
	if drop("profile") {
		s.IAMInstanceProfile = ""
	}
	if drop("monitoring") {
		s.Monitoring = nil
	}
	if drop("protection") {
		s.DisableAPITermination = nil
	}
	if drop("tokens") {
		s.MetadataOptions.HTTPTokens = ""
	}
	if drop("endpoint") {
		s.MetadataOptions.HTTPEndpoint = ""
	}
	if drop("optimized") {
		s.EBSOptimized = nil
	}
	if drop("iops") {
		s.BlockDeviceMappings[1].IOPS = nil
	}
	if drop("volume") {
		s.BlockDeviceMappings = s.BlockDeviceMappings[:1]
	}
	if drop("volumes") {
		s.BlockDeviceMappings = nil
	}
	if drop("tags") {
		s.Tags = nil
	}
}
