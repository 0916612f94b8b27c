//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestATypeChangesWithConsentOnly(t *testing.T) {
	c := withOperator(t)
	m := machineOf(team(t, c), "grow")
	createReady(t, c, m)
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.InstanceType, m.Spec.InstanceName = "t3.large", "grown" })
	got := reason(t, c, m, "StopNeeded")
	for _, help := range []string{"t3.micro → t3.large", "allowStop", "nothing was stopped"} {
		if !strings.Contains(got.Message, help) {
			t.Errorf("message %q does not speak of %s", got.Message, help)
		}
	}
	if vm := inEC2(t, m); vm.InstanceType != "t3.micro" || vm.State.Name != ec2types.InstanceStateNameRunning {
		t.Errorf("%s, %s", vm.InstanceType, vm.State.Name)
	}
	if len(machinesWith(t, "tag:Name", "grown")) != 1 {
		t.Error("the rest of the edit was not applied")
	}
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.AllowStop = true })
	ready(t, c, m)
	if vm := inEC2(t, m); vm.InstanceType != "t3.large" || vm.State.Name != ec2types.InstanceStateNameRunning ||
		m.Status.RestartAfterChange {
		t.Errorf("%s, %s, to be restarted: %v", vm.InstanceType, vm.State.Name, m.Status.RestartAfterChange)
	}
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.InstanceType = "m6g.large" })
	if got := reason(t, c, m, "TypeDoesNotFit"); !strings.Contains(got.Message, "arm64") {
		t.Errorf("message %q", got.Message)
	}
	if vm := inEC2(t, m); vm.State.Name != ec2types.InstanceStateNameRunning {
		t.Errorf("it was stopped for nothing: %s", vm.State.Name)
	}
}

func TestVolumesGrowAndFieldsGoBack(t *testing.T) {
	c := withOperator(t)
	m := machineOf(team(t, c), "disk", func(s *v1alpha1.EC2InstanceSpec) {
		s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{
			{DeviceName: "/dev/sdf", VolumeSize: aws.Int32(10), IOPS: aws.Int32(5000), DeleteOnTermination: aws.Bool(
				true)},
		}
		s.MetadataOptions = &v1alpha1.EC2MetadataOptions{HTTPTokens: "optional", HTTPPutResponseHopLimit: aws.Int32(2)}
		s.Monitoring = aws.Bool(true)
	})
	createReady(t, c, m)
	edit(t, c, m, func(m *v1alpha1.EC2Instance) {
		m.Spec.BlockDeviceMappings[0].VolumeSize, m.Spec.BlockDeviceMappings[0].IOPS = aws.Int32(30), nil
		m.Spec.MetadataOptions, m.Spec.Monitoring = nil, nil
	})
	ready(t, c, m)
	if v := volumeAt(t, m, "/dev/sdf"); *v.Size != 30 || *v.Iops != 3000 {
		t.Errorf("%d GiB, %d IOPS", *v.Size, *v.Iops)
	}
	vm := inEC2(t, m)
	if vm.MetadataOptions.HttpTokens != ec2types.HttpTokensStateRequired ||
		*vm.MetadataOptions.HttpPutResponseHopLimit != 2 || vm.Monitoring.State != ec2types.MonitoringStateDisabled {
		t.Errorf("metadata %+v, monitoring %+v", vm.MetadataOptions, vm.Monitoring)
	}
	want := []string{
		"blockDeviceMappings[/dev/sdf].deleteOnTermination", "blockDeviceMappings[/dev/sdf].volumeSize",
		"instanceType", "tags.Name",
	}
	if !slices.Equal(m.Status.ManagedFields, want) {
		t.Errorf("managed fields %v", m.Status.ManagedFields)
	}
}

func creditsOf(t *testing.T, m *v1alpha1.EC2Instance) string {
	t.Helper()
	out, err := outsideEC2(t).DescribeInstanceCreditSpecifications(
		t.Context(), &ec2.DescribeInstanceCreditSpecificationsInput{InstanceIds: []string{m.Status.InstanceID}})
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(out.InstanceCreditSpecifications[0].CpuCredits)
}

// A burstable machine costs money for extra CPU only if its owner allows it.
func TestABurstableMachineIsStandardUntilItsOwnerPays(t *testing.T) {
	c := withOperator(t)
	m := machineOf(team(t, c), "burst")
	createReady(t, c, m)
	if got := creditsOf(t, m); got != "standard" {
		t.Errorf("it was launched as %s", got)
	}
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.CreditSpecification = "unlimited" })
	if ready(t, c, m); creditsOf(t, m) != "unlimited" {
		t.Errorf("it is %s", creditsOf(t, m))
	}
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.CreditSpecification = "" })
	if ready(t, c, m); creditsOf(t, m) != "standard" {
		t.Errorf("withdrawn, it is %s", creditsOf(t, m))
	}
}

// Volumes that outlive the machine are reported before its deletion.
func TestAMachineNamesWhatOutlivesIt(t *testing.T) {
	c := withOperator(t)
	m := machineOf(team(t, c), "keeps", func(s *v1alpha1.EC2InstanceSpec) {
		s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{
			{DeviceName: "/dev/sdf", VolumeSize: aws.Int32(10), DeleteOnTermination: aws.Bool(false)},
		}
	})
	createReady(t, c, m)
	want := []string{"volume " + *volumeAt(t, m, "/dev/sdf").VolumeId + " at /dev/sdf (10 GiB)"}
	if !slices.Equal(m.Status.StaysAfterDeletion, want) {
		t.Errorf("%q, want %q", m.Status.StaysAfterDeletion, want)
	}
}
