package ec2

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func credited(option string) func(*v1alpha1.EC2InstanceSpec) {
	return func(s *v1alpha1.EC2InstanceSpec) { s.CreditSpecification = option }
}

func typed(name string) func(*v1alpha1.EC2InstanceSpec) {
	return func(s *v1alpha1.EC2InstanceSpec) { s.InstanceType = name }
}

// CPU time beyond what a burstable type earns is billed only if the owner asks for it.
func TestALaunchIsStandardUnlessTheOwnerPays(t *testing.T) {
	for _, row := range []struct{ instanceType, declared, want string }{
		{"t3.micro", "", "standard"},
		{"t4g.small", "", "standard"},
		{"t3a.micro", "unlimited", "unlimited"},
		{"t2.micro", "unlimited", "unlimited"},
		{"m5.large", "", ""},
		{"trn1.2xlarge", "", ""},
		{"t1.micro", "", ""},
	} {
		got := ""
		if in := launchCredits(&objectOf(typed(row.instanceType), credited(row.declared)).Spec); in != nil {
			got = *in.CpuCredits
		}
		if got != row.want {
			t.Errorf("%s with %q is launched as %q", row.instanceType, row.declared, got)
		}
	}
}

func TestCreditsAreComparedOnlyIfDeclared(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f)
	f.last().credits = "unlimited"
	if err := settle(t, f, a, obj); err != nil || !slices.Equal(f.calls, []string{"DescribeInstances"}) {
		t.Errorf("%v, calls %v", err, f.calls)
	}
	obj.Spec.CreditSpecification = standard
	if err := settle(t, f, a, obj); err != nil || f.last().credits != standard {
		t.Errorf("%v; it is %s", err, f.last().credits)
	}
	obj.Spec.CreditSpecification = "unlimited"
	if err := settle(t, f, a, obj); err != nil || f.last().credits != "unlimited" {
		t.Errorf("%v; it is %s", err, f.last().credits)
	}
	obj.Spec.CreditSpecification, obj.Status.ManagedFields = "", []string{"creditSpecification"}
	if err := settle(t, f, a, obj); err != nil || f.last().credits != standard {
		t.Errorf("withdrawn: %v; it is %s", err, f.last().credits)
	}
}

// EC2 refuses calls about the credits of other types, so none is made for a machine that waits for its new type.
func TestCreditsOfOtherTypesAreNotRead(t *testing.T) {
	f := &fakeEC2{}
	a, obj := settled(t, f, typed("m5.large"))
	obj.Spec.InstanceType, obj.Spec.CreditSpecification = "t3.micro", standard
	wantPause(t, settle(t, f, a, obj), "StopNeeded")
	if slices.Contains(f.calls, "DescribeInstanceCreditSpecifications") {
		t.Errorf("calls %v", f.calls)
	}
}

func TestCreditsThatAreNotChangedAreTold(t *testing.T) {
	f := &fakeEC2{unpaid: "InstanceCreditSpecification.NotSupported"}
	a, obj := settled(t, f, credited(standard))
	obj.Spec.CreditSpecification = "unlimited"
	actions, err := a.Plan(obj, observe(t, a, obj))
	if err != nil || len(actions) != 1 {
		t.Fatalf("%+v, %v", actions, err)
	}
	wantPause(t, actions[0].Do(t.Context()), "InvalidSpec", "InstanceCreditSpecification.NotSupported")
}

// Volumes that outlive the machine cost money, so the status names them.
func TestTheStatusNamesVolumesThatStay(t *testing.T) {
	f := &fakeEC2{}
	_, obj := settled(t, f, func(s *v1alpha1.EC2InstanceSpec) {
		s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{
			{DeviceName: extra, VolumeSize: aws.Int32(10)},
			{DeviceName: "/dev/sdg", DeleteOnTermination: aws.Bool(true)},
		}
	})
	want := []string{"volume " + *f.last().volumes[extra].VolumeId + " at " + extra + " (10 GiB)"}
	if got := obj.Status.StaysAfterDeletion; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f.last().vm.BlockDeviceMappings = []ec2types.InstanceBlockDeviceMapping{{DeviceName: aws.String(extra)}}
	if got := staying(&instanceState{vm: f.last().vm}); len(got) != 0 {
		t.Errorf("of an instance store: %q", got)
	}
}
