//go:build integration

package integration

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// offerMachine launches a machine manually and offers it to m.
func offerMachine(t *testing.T, m *v1alpha1.EC2Instance) (id, volume string) {
	t.Helper()
	out, err := outsideEC2(t).RunInstances(t.Context(), &ec2.RunInstancesInput{
		ImageId: aws.String(simulatedImage), InstanceType: ec2types.InstanceTypeT3Micro, MinCount: aws.Int32(1),
		MaxCount: aws.Int32(1),
		BlockDeviceMappings: []ec2types.BlockDeviceMapping{
			{DeviceName: aws.String("/dev/sdf"), Ebs: &ec2types.EbsBlockDevice{
				VolumeSize: aws.Int32(10), VolumeType: ec2types.VolumeTypeGp3,
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	id = *out.Instances[0].InstanceId
	offerTo(t, m, id)
	m.Status.InstanceID = id
	return id, *volumeAt(t, m, "/dev/sdf").VolumeId
}

func offerTo(t *testing.T, m *v1alpha1.EC2Instance, id string) {
	t.Helper()
	_, err := outsideEC2(t).CreateTags(t.Context(), &ec2.CreateTagsInput{
		Resources: []string{id}, Tags: []ec2types.Tag{{Key: aws.String("portico.dev/adopt"), Value: aws.String(m.Namespace + "/" + m.Name)}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// volumeOwner returns the namespace in a volume's tags, and Portico's other tags.
func volumeOwner(t *testing.T, m *v1alpha1.EC2Instance) (namespace string, others []string) {
	t.Helper()
	for _, tag := range volumeAt(t, m, "/dev/sdf").Tags {
		switch key := aws.ToString(tag.Key); {
		case key == "portico.dev/namespace":
			namespace = aws.ToString(tag.Value)
		case strings.HasPrefix(key, "portico.dev/"):
			others = append(others, key)
		}
	}
	return namespace, others
}

// An adopted machine grows its volume, whose tags the policy checks. The volume is released with the machine.
func TestAVolumeOfAnAdoptedMachineGrows(t *testing.T) {
	c := withOperator(t)
	m := machineOf(team(t, c), "inherited", func(s *v1alpha1.EC2InstanceSpec) {
		s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptionAdopt, v1alpha1.DeletionOrphan
		s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{{DeviceName: "/dev/sdf", VolumeSize: aws.Int32(30)}}
	})
	id, volume := offerMachine(t, m)
	create(t, c, m)
	got := reason(t, c, m, "AccessDenied")
	for _, part := range []string{volume, "/dev/sdf", "portico.dev/adopt=" + m.Namespace + "/inherited"} {
		if !strings.Contains(got.Message, part) {
			t.Errorf("message %q does not speak of %s", got.Message, part)
		}
	}
	offerTo(t, m, volume)
	annotate(t, c, m, v1alpha1.AnnotationReconcileRequestedAt, "1")
	ready(t, c, m)
	if v := volumeAt(t, m, "/dev/sdf"); m.Status.InstanceID != id || *v.Size != 30 {
		t.Errorf("%s with %d GiB", m.Status.InstanceID, *v.Size)
	}
	if namespace, others := volumeOwner(t, m); namespace != m.Namespace || len(others) != 5 {
		t.Errorf("the volume is of %q, with %v", namespace, others)
	}
	gone(t, c, m)
	if namespace, others := volumeOwner(t, m); namespace != "" || len(others) != 0 {
		t.Errorf("let go, the volume is of %q, with %v", namespace, others)
	}
	for _, tag := range inEC2(t, m).Tags {
		if strings.HasPrefix(*tag.Key, "portico.dev/") {
			t.Errorf("let go, the machine has the tag %s", *tag.Key)
		}
	}
}
