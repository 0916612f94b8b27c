//go:build integration

package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func disk(d v1alpha1.EC2BlockDevice) func(*v1alpha1.EC2InstanceSpec) {
	d.DeviceName = "/dev/sdf"
	return func(s *v1alpha1.EC2InstanceSpec) { s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{d} }
}

func bootFrom(secret *v1alpha1.SecretKeyRef, config *v1alpha1.ConfigMapKeyRef) func(*v1alpha1.EC2InstanceSpec) {
	return func(s *v1alpha1.EC2InstanceSpec) {
		s.UserDataFrom = &v1alpha1.EC2UserDataSource{SecretKeyRef: secret, ConfigMapKeyRef: config}
	}
}

// Every rule of the schema refuses with a helpful message, at the field that it is about.
func TestTheSchemaRefusesBadMachines(t *testing.T) {
	c := admin(t)
	type spec = v1alpha1.EC2InstanceSpec
	ref := &v1alpha1.SecretKeyRef{Name: "n", Key: "k"}
	for _, x := range []struct {
		reason string
		change func(*spec)
		field  string
		says   string
	}{
		{"no name", func(s *spec) { s.InstanceName = "" }, "spec.instanceName", "at least 1"},
		{"no type", func(s *spec) { s.InstanceType = "large" }, "spec.instanceType", "t3.micro"},
		{"no image", func(s *spec) { s.ImageID = "" }, "spec", "exactly one of imageID"},
		{"two images", func(s *spec) { s.ImageSSMParameter = latestLinux }, "spec", "exactly one of imageID"},
		{"an image's name", func(s *spec) { s.ImageID = "amazon-linux" }, "spec.imageID", "ami-0123"},
		{"a secret as an image", func(s *spec) {
			s.ImageID, s.ImageSSMParameter = "", "/aws/reference/secretsmanager/db"
		}, "spec.imageSSMParameter", "reference to a secret"},
		{"a bad parameter", func(s *spec) { s.ImageID, s.ImageSSMParameter = "", "a b" }, "spec.imageSSMParameter", "SSM parameter"},
		{"a subnet's name", func(s *spec) { s.SubnetID = "private" }, "spec.subnetID", "subnet-0123"},
		{"a group's name", func(s *spec) { s.SecurityGroupIDs = []string{"default"} }, "spec.securityGroupIDs[0]", "should match"},
		{"a role", func(s *spec) { s.IAMInstanceProfile = "arn:aws:iam::123456789012:role/x" }, "spec.iamInstanceProfile", "instance profile"},
		{"much user data", func(s *spec) { s.UserData = strings.Repeat("x", 16385) }, "spec.userData", "16384"},
		{"two sources", func(s *spec) { s.UserData = "x"; bootFrom(ref, nil)(s) }, "spec", "at most one of userData"},
		{"two references", bootFrom(ref, &v1alpha1.ConfigMapKeyRef{Name: "n", Key: "k"}), "spec.userDataFrom", "exactly one of secretKeyRef"},
		{"no reference", bootFrom(nil, nil), "spec.userDataFrom", "exactly one of secretKeyRef"},
		{"a tag Name", func(s *spec) { s.Tags = v1alpha1.Tags{"Name": "x"} }, "spec", "instanceName"},
		{"a bad device", func(s *spec) { s.BlockDeviceMappings = []v1alpha1.EC2BlockDevice{{DeviceName: "/dev/../x"}} }, "spec.blockDeviceMappings[0].deviceName", "should match"},
		{"io2 without iops", disk(v1alpha1.EC2BlockDevice{VolumeType: "io2"}), "spec.blockDeviceMappings[0]", "iops is required"},
		{"iops of gp2", disk(v1alpha1.EC2BlockDevice{VolumeType: "gp2", IOPS: aws.Int32(3000)}), "spec.blockDeviceMappings[0]", "iops needs volumeType"},
		{"throughput of io2", disk(v1alpha1.EC2BlockDevice{VolumeType: "io2", IOPS: aws.Int32(300), Throughput: aws.Int32(125)}), "spec.blockDeviceMappings[0]", "throughput needs"},
		{"a key without encryption", disk(v1alpha1.EC2BlockDevice{Encrypted: aws.Bool(false), KMSKeyID: "alias/x"}), "spec.blockDeviceMappings[0]", "kmsKeyID needs"},
		{"a snapshot's name", disk(v1alpha1.EC2BlockDevice{SnapshotID: "x"}), "spec.blockDeviceMappings[0].snapshotID", "snap-0123"},
		{"tokens of nothing", func(s *spec) {
			s.MetadataOptions = &v1alpha1.EC2MetadataOptions{HTTPEndpoint: "disabled", HTTPTokens: "required"}
		}, "spec.metadataOptions", "need httpEndpoint enabled"},
		{"no state", func(s *spec) { s.State = "Paused" }, "spec.state", "Stopped"},
	} {
		t.Run(x.reason, func(t *testing.T) {
			assertRefused(t, c.Create(t.Context(), machineOf("default", "bad", x.change), client.DryRunAll), x.field,
				x.says)
		})
	}
	for name, change := range map[string]func(*spec){
		"a versioned parameter": func(s *spec) { s.ImageID, s.ImageSSMParameter = "", "images/web:3" },
		"a profile's ARN": func(s *spec) {
			s.IAMInstanceProfile = "arn:aws-us-gov:iam::123456789012:instance-profile/a/b/web"
		},
		"stopping": func(s *spec) { s.DeletionPolicy = "Stop" },
		"metadata off": func(s *spec) {
			s.MetadataOptions = &v1alpha1.EC2MetadataOptions{HTTPEndpoint: "disabled"}
		},
		"a large type": func(s *spec) { s.InstanceType = "u-6tb1.112xlarge" },
		"a volume by default": disk(
			v1alpha1.EC2BlockDevice{IOPS: aws.Int32(3000), Throughput: aws.Int32(500), KMSKeyID: "alias/x"}),
	} {
		if err := c.Create(t.Context(), machineOf("default", "good", change), client.DryRunAll); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatCannotChangeOfAMachineIsRefused(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	type spec = v1alpha1.EC2InstanceSpec
	fixed := machineOf(ns, "fixed",
		disk(v1alpha1.EC2BlockDevice{VolumeSize: aws.Int32(20), SnapshotID: "snap-1", KMSKeyID: "alias/x"}),
		func(s *spec) {
			s.KeyName, s.SubnetID, s.UserData = "key", "subnet-1", "x"
		})
	loose := machineOf(ns, "loose", disk(v1alpha1.EC2BlockDevice{}))
	for _, m := range []*v1alpha1.EC2Instance{fixed, loose} {
		m.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
		create(t, c, m)
	}
	ref := &v1alpha1.SecretKeyRef{Name: "n", Key: "k"}
	const device = "spec.blockDeviceMappings"
	rows := []struct {
		from   *v1alpha1.EC2Instance
		field  string
		says   string
		change func(*spec)
	}{
		{fixed, "spec.imageID", "imageID is immutable", func(s *spec) { s.ImageID = "ami-00000001" }},
		{fixed, "spec.imageID", "imageID is immutable", func(s *spec) { s.ImageID, s.ImageSSMParameter = "", "x" }},
		{fixed, "spec.keyName", "immutable", func(s *spec) { s.KeyName = "other" }},
		{fixed, "spec.keyName", "keyName is immutable", func(s *spec) { s.KeyName = "" }},
		{fixed, "spec.subnetID", "immutable", func(s *spec) { s.SubnetID = "subnet-2" }},
		{fixed, "spec.userData", "immutable", func(s *spec) { s.UserData = "y" }},
		{fixed, device, "snapshotID is immutable", func(s *spec) { s.BlockDeviceMappings[0].SnapshotID = "snap-2" }},
		{fixed, device, "kmsKeyID is immutable", func(s *spec) { s.BlockDeviceMappings[0].KMSKeyID = "alias/y" }},
		{fixed, device, "kmsKeyID is immutable", func(s *spec) { s.BlockDeviceMappings[0].KMSKeyID = "" }},
		{loose, "spec.subnetID", "subnetID is immutable", func(s *spec) { s.SubnetID = "subnet-1" }},
		{loose, "spec.userData", "userData is immutable", func(s *spec) { s.UserData = "x" }},
		{loose, "spec.userDataFrom", "userDataFrom is immutable", bootFrom(ref, nil)},
		{loose, device, "encrypted is immutable", func(s *spec) { s.BlockDeviceMappings[0].Encrypted = aws.Bool(false) }},
		{loose, device, "snapshotID is immutable", func(s *spec) { s.BlockDeviceMappings[0].SnapshotID = "snap-1" }},
	}
	for _, x := range rows {
		changed := x.from.DeepCopy()
		x.change(&changed.Spec)
		if err := c.Update(t.Context(), changed, client.DryRunAll); err != nil {
			t.Errorf("%s, before anything was launched: %v", x.says, err)
		}
	}
	fixed.Status.InstanceID = "i-0123456789abcdef0"
	loose.Status.LastSyncTime = &metav1.Time{Time: time.Now()} // its launch is in progress
	for _, m := range []*v1alpha1.EC2Instance{fixed, loose} {
		if err := c.Status().Update(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range rows {
		changed := x.from.DeepCopy()
		x.change(&changed.Spec)
		assertRefused(t, c.Update(t.Context(), changed, client.DryRunAll), x.field, x.says)
	}
	said := loose.DeepCopy()
	said.Spec.BlockDeviceMappings[0].Encrypted = aws.Bool(true)
	said.Spec.InstanceType, said.Spec.State, said.Spec.InstanceName = "t3.large", "Stopped", "other"
	if err := c.Update(t.Context(), said, client.DryRunAll); err != nil {
		t.Errorf("what may change, or says what holds already, is refused: %v", err)
	}
}
