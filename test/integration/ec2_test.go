//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
)

const latestLinux = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"

func machineOf(ns, name string, change ...func(*v1alpha1.EC2InstanceSpec)) *v1alpha1.EC2Instance {
	m := machines.object(ns, name).(*v1alpha1.EC2Instance)
	for _, c := range change {
		c(&m.Spec)
	}
	return m
}

// inEC2 returns AWS's description of the instance.
func inEC2(t *testing.T, m *v1alpha1.EC2Instance) ec2types.Instance {
	t.Helper()
	out, err := outsideEC2(t).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{
		InstanceIds: []string{m.Status.InstanceID},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Reservations[0].Instances[0]
}

func volumeAt(t *testing.T, m *v1alpha1.EC2Instance, device string) ec2types.Volume {
	t.Helper()
	out, err := outsideEC2(t).DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{Filters: []ec2types.Filter{
		{Name: aws.String("attachment.instance-id"), Values: []string{m.Status.InstanceID}},
		{Name: aws.String("attachment.device"), Values: []string{device}},
	}})
	if err != nil || len(out.Volumes) != 1 {
		t.Fatalf("%d volumes at %s, %v", len(out.Volumes), device, err)
	}
	return out.Volumes[0]
}

// look requests a pass by annotation and waits until the machine is in sync.
func look(t *testing.T, c client.Client, m *v1alpha1.EC2Instance, value string) awsproxy.Mark {
	t.Helper()
	mark := world.Proxy.Mark()
	edit(t, c, m, func(m *v1alpha1.EC2Instance) {
		m.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: value}
	})
	await(t, "a pass on request", func() (bool, string) { return len(machines.calls(mark)) > 0, "no call" })
	ready(t, c, m)
	return mark
}

func TestAMachineIsLaunchedAsAskedFor(t *testing.T) {
	calm(t)
	c := admin(t)
	startOperator(t, operatorOptions{newClient: live})
	ns := team(t, c)
	create(t, c, &corev1.Secret{ObjectMeta: meta1(ns, "boot"), Data: map[string][]byte{
		"script": []byte("#!/bin/sh\necho open-sesame\n"),
	}})
	m := machineOf(ns, "worker", func(s *v1alpha1.EC2InstanceSpec) {
		s.ImageID, s.ImageSSMParameter = "", latestLinux
		s.UserDataFrom = &v1alpha1.EC2UserDataSource{SecretKeyRef: &v1alpha1.SecretKeyRef{Name: "boot", Key: "script"}}
		s.Monitoring, s.DisableAPITermination = aws.Bool(true), aws.Bool(false)
		s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{
			{DeviceName: "/dev/xvda", VolumeSize: aws.Int32(20), IOPS: aws.Int32(4000)},
		}
		s.Tags = ours
	})
	createReady(t, c, m)
	vm := inEC2(t, m)
	if vm.MetadataOptions.HttpTokens != ec2types.HttpTokensStateRequired ||
		vm.Monitoring.State != ec2types.MonitoringStateEnabled {
		t.Errorf("metadata %+v, monitoring %+v", vm.MetadataOptions, vm.Monitoring)
	}
	v := volumeAt(t, m, "/dev/xvda")
	if !aws.ToBool(v.Encrypted) || v.VolumeType != ec2types.VolumeTypeGp3 {
		t.Errorf("root volume: Encrypted = %v, VolumeType = %s, want true, gp3", aws.ToBool(v.Encrypted), v.VolumeType)
	}
	if *v.Size != 20 || *v.Iops != 4000 {
		t.Errorf("root volume: Size = %d, Iops = %d, want 20, 4000", *v.Size, *v.Iops)
	}
	s := m.Status
	if s.InstanceState != "running" || s.PrivateIP == "" || s.AvailabilityZone == "" {
		t.Errorf("InstanceState = %q, PrivateIP = %q, AvailabilityZone = %q; want running, and both",
			s.InstanceState, s.PrivateIP, s.AvailabilityZone)
	}
	if s.LaunchTime == nil || len(s.Volumes) != 1 || s.Volumes[0].Size != 20 {
		t.Errorf("LaunchTime = %v, Volumes = %+v; want a time, one of 20 GiB", s.LaunchTime, s.Volumes)
	}
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: m.Status.Binding.Name}, secret); err != nil {
		t.Fatal(err)
	}
	if secret.Type != "servicebinding.io/ec2" || string(secret.Data["instance-id"]) != m.Status.InstanceID ||
		len(secret.Data["host"]) == 0 {
		t.Errorf("binding %s with %d keys", secret.Type, len(secret.Data))
	}
	version := m.Status.LastSyncTime
	if mark := look(t, c, m, "1"); len(machines.writes(mark)) != 0 || !m.Status.LastSyncTime.Equal(version) {
		t.Errorf("the second pass wrote %v", machines.writes(mark))
	}
	for _, e := range eventsOf(t, c, m) {
		if strings.Contains(e, "sesame") {
			t.Errorf("an event tells the user data: %s", e)
		}
	}
	gone(t, c, m)
	if left := machinesWith(t, "tag:portico.dev/uid", string(m.UID)); len(left) != 0 {
		t.Errorf("%d machines are left", len(left))
	}
}

func TestAPlainMachineKeepsItsCallBudget(t *testing.T) {
	calm(t)
	c := withOperator(t)
	ns := team(t, c)
	first := bucketOf(ns, "first")
	create(t, c, first)
	ready(t, c, first) // the operator has checked the provider, so that triggers no more passes
	m := machineOf(ns, "plain")
	mark := world.Proxy.Mark()
	createReady(t, c, m)
	if got := machines.calls(mark); !slices.Equal(
		got, []string{"DescribeInstances", "DescribeImages", "RunInstances", "DescribeInstances"}) {
		t.Errorf("create → settled took %v", got)
	}
	if got := machines.calls(look(t, c, m, "1")); !slices.Equal(got, []string{"DescribeInstances"}) {
		t.Errorf("a check on request took %v", got)
	}
	mark = world.Proxy.Mark()
	gone(t, c, m)
	if got := machines.calls(mark); len(got) > 3 {
		t.Errorf("delete took %v", got)
	}
}

func TestALostLaunchMakesNoSecondMachine(t *testing.T) {
	c := withOperator(t)
	remove := world.Proxy.Inject(
		awsproxy.Fault{Service: "ec2", Operation: "RunInstances", Kind: awsproxy.LostReply, Times: 4})
	defer remove()
	m := machineOf(team(t, c), "once")
	createReady(t, c, m)
	if got := machinesWith(t, "tag:portico.dev/uid", string(m.UID)); len(got) != 1 ||
		*got[0].InstanceId != m.Status.InstanceID {
		t.Errorf("%d machines carry the object's UID", len(got))
	}
}

// The response is lost and the spec changes before the retry: the same token, with other parameters.
func TestALostLaunchIsFoundAfterAnEdit(t *testing.T) {
	c := admin(t)
	stop := startOperator(t, operatorOptions{})
	remove := world.Proxy.Inject(awsproxy.Fault{Service: "ec2", Operation: "RunInstances", Kind: awsproxy.LostReply})
	m := machineOf(team(t, c), "edited")
	create(t, c, m)
	await(t, "the launch", func() (bool, string) {
		return len(machinesWith(t, "tag:portico.dev/uid", string(m.UID))) == 1, "no machine"
	})
	stop()
	remove()
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.InstanceName = "renamed" })
	startOperator(t, operatorOptions{})
	ready(t, c, m)
	if got := machinesWith(t, "tag:portico.dev/uid", string(m.UID)); len(got) != 1 {
		t.Errorf("%d machines carry the object's UID", len(got))
	}
	if got := machinesWith(t, "tag:Name", "renamed"); len(got) != 1 {
		t.Errorf("%d machines have the new name", len(got))
	}
}

func TestATerminatedMachineIsNotReplacedUnasked(t *testing.T) {
	c := withOperator(t)
	m := machineOf(team(t, c), "lost")
	createReady(t, c, m)
	first := m.Status.InstanceID
	if err := machines.destroy(t, m); err != nil {
		t.Fatal(err)
	}
	edit(t, c, m, func(m *v1alpha1.EC2Instance) {
		m.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: "1"}
	})
	reason(t, c, m, "ExternallyDeleted")
	if got := machinesWith(t, "tag:portico.dev/uid", string(m.UID)); len(got) != 0 {
		t.Errorf("%d machines", len(got))
	}
	edit(t, c, m, func(m *v1alpha1.EC2Instance) {
		m.Annotations = map[string]string{v1alpha1.AnnotationAcknowledgeRecreate: "1"}
	})
	ready(t, c, m)
	if got := machinesWith(t, "tag:portico.dev/uid", string(m.UID)); len(got) != 1 || *got[0].InstanceId == first ||
		m.Status.InstanceID == first {
		t.Errorf("%d machines, in the status %s", len(got), m.Status.InstanceID)
	}
}

func TestAStoppedMachineIsKeptAndTakenBack(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	keep := func(s *v1alpha1.EC2InstanceSpec) { s.DeletionPolicy = v1alpha1.DeletionStop }
	m := machineOf(ns, "night", keep)
	createReady(t, c, m)
	id := m.Status.InstanceID
	gone(t, c, m)
	if vm := inEC2(t, m); vm.State.Name != ec2types.InstanceStateNameStopped {
		t.Fatalf("it is %s", vm.State.Name)
	}
	again := machineOf(ns, "night", keep, func(s *v1alpha1.EC2InstanceSpec) { s.State = "Running" })
	createReady(t, c, again)
	if vm := inEC2(t, again); again.Status.InstanceID != id || vm.State.Name != ec2types.InstanceStateNameRunning {
		t.Errorf("%s, %s; want %s taken back", again.Status.InstanceID, vm.State.Name, id)
	}
	edit(t, c, again, func(m *v1alpha1.EC2Instance) { m.Spec.State = "Stopped" })
	ready(t, c, again)
	if again.Status.InstanceState != "stopped" {
		t.Errorf("state Stopped: it is %s", again.Status.InstanceState)
	}
	edit(t, c, again, func(m *v1alpha1.EC2Instance) { m.Spec.State = "" })
	reason(t, c, again, "Stopped")
	edit(t, c, again, func(m *v1alpha1.EC2Instance) { m.Spec.State = "Running" })
	ready(t, c, again)
	edit(t, c, again, func(m *v1alpha1.EC2Instance) { m.Spec.State = "Stopped" })
	ready(t, c, again)
	if again.Status.InstanceState != "stopped" {
		t.Errorf("state Stopped: it is %s", again.Status.InstanceState)
	}
}

func TestALaunchThatFailsSaysWhatToDo(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{newClient: live})
	ns := team(t, c)
	for name, x := range map[string]struct {
		change       func(*v1alpha1.EC2InstanceSpec)
		reason, says string
	}{
		"image":     {func(s *v1alpha1.EC2InstanceSpec) { s.ImageID = "ami-00000000" }, "ReferenceNotAllowed", "the image ami-00000000, or there is no such thing"},
		"key":       {func(s *v1alpha1.EC2InstanceSpec) { s.KeyName = "none" }, "ReferenceNotAllowed", "the key pair none, or there is no such thing"},
		"subnet":    {func(s *v1alpha1.EC2InstanceSpec) { s.SubnetID = "subnet-00000000" }, "ReferenceNotAllowed", "subnet subnet-00000000"},
		"group":     {func(s *v1alpha1.EC2InstanceSpec) { s.SecurityGroupIDs = []string{"sg-00000000"} }, "ReferenceNotAllowed", "sg-00000000"},
		"profile":   {func(s *v1alpha1.EC2InstanceSpec) { s.IAMInstanceProfile = "none" }, "ReferenceNotAllowed", "the instance profile none, or there is no such thing"},
		"parameter": {func(s *v1alpha1.EC2InstanceSpec) { s.ImageID, s.ImageSSMParameter = "", "/portico/images/none" }, "ImageParameterNotFound", "/portico/images/none"},
		"secret": {func(s *v1alpha1.EC2InstanceSpec) {
			s.UserDataFrom = &v1alpha1.EC2UserDataSource{SecretKeyRef: &v1alpha1.SecretKeyRef{Name: "none", Key: "x"}}
		}, "SecretNotFound", "no Secret none"},
	} {
		m := machineOf(ns, name, x.change)
		create(t, c, m)
		if got := reason(t, c, m, x.reason); !strings.Contains(got.Message, x.says) {
			t.Errorf("%s: message %q", name, got.Message)
		}
		gone(t, c, m)
	}
}
