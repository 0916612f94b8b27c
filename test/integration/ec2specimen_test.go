//go:build integration

package integration

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// simulatedImage is one of the images that the simulator has.
const simulatedImage = "ami-12c6146b"

var machines = register(specimen{
	kind: "EC2Instance", service: "ec2", stateful: true,
	tagging: machineTagging,
	create:  "RunInstances", update: "ModifyInstanceMetadataOptions", remove: "TerminateInstances",
	list: "DescribeInstances", page: 5, rest: []string{"DescribeInstances"},
	object: func(ns, name string) external.Object {
		return &v1alpha1.EC2Instance{ObjectMeta: meta1(ns, name), Spec: v1alpha1.EC2InstanceSpec{
			AWSSpec: sampleProvider(), InstanceName: name, InstanceType: "t3.micro", ImageID: simulatedImage,
		}}
	},
	declare: func(o external.Object) {
		s := &o.(*v1alpha1.EC2Instance).Spec
		s.MetadataOptions, s.Tags = &v1alpha1.EC2MetadataOptions{HTTPPutResponseHopLimit: aws.Int32(3)}, ours
	},
	holds: func(t *testing.T, o external.Object) bool {
		t.Helper()
		for _, i := range machinesWith(t, "instance-id", o.(*v1alpha1.EC2Instance).Status.InstanceID) {
			return aws.ToInt32(i.MetadataOptions.HttpPutResponseHopLimit) == 3
		}
		return false
	},
	spoil: func(t *testing.T, o external.Object) error {
		t.Helper()
		_, err := outsideEC2(t).ModifyInstanceMetadataOptions(t.Context(), &ec2.ModifyInstanceMetadataOptionsInput{
			InstanceId: &o.(*v1alpha1.EC2Instance).Status.InstanceID, HttpPutResponseHopLimit: aws.Int32(5),
		})
		return err
	},
	destroy: func(t *testing.T, o external.Object) error {
		t.Helper()
		_, err := outsideEC2(t).TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{
			InstanceIds: []string{o.(*v1alpha1.EC2Instance).Status.InstanceID},
		})
		return err
	},
	owned: func(t *testing.T, uid string) []string {
		t.Helper()
		var all []string
		for _, i := range machinesWith(t, "tag:portico.dev/uid", uid) {
			all = append(all, *i.InstanceId)
		}
		return all
	},
	astray: []wrong{
		{"imageID", `{"imageID":"ami-0123456789abcdef0"}`, "ReferenceNotAllowed", false},
		{"imageSSMParameter", `{"imageID":"","imageSSMParameter":"/portico/images/nowhere"}`, "ImageParameterNotFound", false},
		{"subnetID", `{"subnetID":"subnet-0123456789abcdef0"}`, "ReferenceNotAllowed", false},
		{"securityGroupIDs[]", `{"securityGroupIDs":["sg-0123456789abcdef0"]}`, "ReferenceNotAllowed", true},
		{"keyName", `{"keyName":"nowhere"}`, "ReferenceNotAllowed", false},
		{"iamInstanceProfile", `{"iamInstanceProfile":"nowhere"}`, "ReferenceNotAllowed", true},
		{"blockDeviceMappings[].kmsKeyID", `{"blockDeviceMappings":[{"deviceName":"/dev/sdf","volumeSize":1,"kmsKeyID":"alias/nowhere"}]}`, "ReferenceNotAllowed", false},
		{"blockDeviceMappings[].snapshotID", `{"blockDeviceMappings":[{"deviceName":"/dev/sdf","snapshotID":"snap-0123456789abcdef0"}]}`, "SnapshotNotAllowed", false},
		{"userDataFrom.secretKeyRef.name", `{"userDataFrom":{"secretKeyRef":{"name":"nowhere","key":"script"}}}`, "SecretNotFound", false},
		{"userDataFrom.secretKeyRef.key", `{"userDataFrom":{"secretKeyRef":{"name":"there","key":"nowhere"}}}`, "SecretKeyNotFound", false},
		{"userDataFrom.configMapKeyRef.name", `{"userDataFrom":{"configMapKeyRef":{"name":"nowhere","key":"script"}}}`, "ConfigMapNotFound", false},
		{"userDataFrom.configMapKeyRef.key", `{"userDataFrom":{"configMapKeyRef":{"name":"there","key":"nowhere"}}}`, "ConfigMapKeyNotFound", false},
	},
	plain: []string{"instanceName", "instanceType", "userData", "blockDeviceMappings[].deviceName"},
})

func outsideEC2(t *testing.T) *ec2.Client {
	t.Helper()
	return ec2.NewFromConfig(outsideConfig(t, "test"))
}

// machinesWith returns the instances that a filter finds and that are not terminated.
func machinesWith(t *testing.T, filter, value string) []ec2types.Instance {
	t.Helper()
	out, err := outsideEC2(t).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{
		Filters: []ec2types.Filter{{Name: &filter, Values: []string{value}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []ec2types.Instance
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			if i.State.Name != ec2types.InstanceStateNameTerminated &&
				i.State.Name != ec2types.InstanceStateNameShuttingDown {
				all = append(all, i)
			}
		}
	}
	return all
}
