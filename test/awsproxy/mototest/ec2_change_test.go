//go:build integration

package mototest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

func instanceOf(t *testing.T, c *ec2.Client, id string) types.Instance {
	t.Helper()
	out, err := c.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	must(t, err)
	return out.Reservations[0].Instances[0]
}

func volumesOf(t *testing.T, c *ec2.Client, id string) map[string]types.Volume {
	t.Helper()
	out, err := c.DescribeVolumes(t.Context(), &ec2.DescribeVolumesInput{
		Filters: []types.Filter{{Name: aws.String("attachment.instance-id"), Values: []string{id}}},
	})
	must(t, err)
	all := map[string]types.Volume{}
	for _, v := range out.Volumes {
		all[*v.Attachments[0].Device] = v
	}
	return all
}

func TestALaunchKeepsWhatItIsAskedFor(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	in := runInput(unique(t), types.InstanceTypeT3Micro)
	in.DisableApiTermination = aws.Bool(true)
	in.MetadataOptions = &types.InstanceMetadataOptionsRequest{HttpTokens: types.HttpTokensStateRequired}
	in.BlockDeviceMappings = []types.BlockDeviceMapping{{DeviceName: aws.String("/dev/sdf"), Ebs: &types.EbsBlockDevice{
		VolumeSize: aws.Int32(10), VolumeType: types.VolumeTypeGp3, Iops: aws.Int32(4000), Encrypted: aws.Bool(true),
	}}}
	id := run(t, c, in)
	if m := instanceOf(t, c, id).MetadataOptions; m == nil || m.HttpTokens != types.HttpTokensStateRequired {
		t.Errorf("metadata options %+v", m)
	}
	volumes := volumesOf(t, c, id)
	v := volumes["/dev/sdf"]
	if aws.ToInt32(v.Iops) != 4000 || aws.ToInt32(v.Throughput) != 125 || !aws.ToBool(v.Encrypted) {
		t.Errorf("volume %d IOPS, %d MiB/s, encrypted %v", aws.ToInt32(v.Iops), aws.ToInt32(v.Throughput),
			aws.ToBool(v.Encrypted))
	}
	if _, ok := volumes["/dev/sda1"]; !ok {
		t.Errorf("the root volume is missing: %d volumes", len(volumes))
	}
	_, err := c.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	wantCode(t, err, "OperationNotPermitted")
	_, err = c.ModifyInstanceAttribute(t.Context(), &ec2.ModifyInstanceAttributeInput{
		InstanceId: &id, DisableApiTermination: &types.AttributeBooleanValue{Value: aws.Bool(false)},
	})
	must(t, err)
	_, err = c.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	must(t, err)
	_, err = c.StartInstances(t.Context(), &ec2.StartInstancesInput{InstanceIds: []string{id}})
	wantCode(t, err, "IncorrectInstanceState")
}

func TestALaunchNeedsItsImageAndKeyPair(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	in := runInput(unique(t), types.InstanceTypeT3Micro)
	in.ImageId = aws.String("ami-00000000")
	_, err := c.RunInstances(t.Context(), in)
	wantCode(t, err, "InvalidAMIID.NotFound")
	in = runInput(unique(t), types.InstanceTypeT3Micro)
	in.KeyName = aws.String("none")
	_, err = c.RunInstances(t.Context(), in)
	wantCode(t, err, "InvalidKeyPair.NotFound")

	p, err := ssm.NewFromConfig(config(w.operator, keyOne, "eu-west-1")).GetParameter(
		t.Context(), &ssm.GetParameterInput{
			Name: aws.String("/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"),
		})
	must(t, err)
	in = runInput(unique(t), types.InstanceTypeT3Micro)
	in.ImageId = p.Parameter.Value
	if _, ok := volumesOf(t, c, run(t, c, in))["/dev/xvda"]; !ok {
		t.Error("Amazon Linux has no root volume at /dev/xvda")
	}
}

func TestATypeChangesOnlyWhileStopped(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	id := run(t, c, runInput(unique(t), types.InstanceTypeT3Micro))
	change := &ec2.ModifyInstanceAttributeInput{InstanceId: &id, InstanceType: &types.AttributeValue{
		Value: aws.String("t3.large"),
	}}
	_, err := c.ModifyInstanceAttribute(t.Context(), change)
	wantCode(t, err, "IncorrectInstanceState")
	_, err = c.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{id}})
	must(t, err)
	_, err = c.ModifyInstanceAttribute(t.Context(), change)
	must(t, err)
	if got := instanceOf(t, c, id).InstanceType; got != types.InstanceTypeT3Large {
		t.Errorf("type %s", got)
	}
}

func TestVolumesOnlyGrow(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	id := run(t, c, runInput(unique(t), types.InstanceTypeT3Micro))
	volume := volumesOf(t, c, id)["/dev/sda1"].VolumeId
	tagged(t, w, *volume, "portico.dev/namespace", "team")
	_, err := c.ModifyVolume(t.Context(), &ec2.ModifyVolumeInput{VolumeId: volume, Size: aws.Int32(4)})
	wantCode(t, err, "InvalidParameterValue")
	_, err = c.ModifyVolume(t.Context(), &ec2.ModifyVolumeInput{VolumeId: volume, Size: aws.Int32(40)})
	must(t, err)
	if got := volumesOf(t, c, id)["/dev/sda1"]; *got.Size != 40 {
		t.Errorf("%d GiB", *got.Size)
	}
}

func TestMetadataOptionsLeftOutStay(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	in := runInput(unique(t), types.InstanceTypeT3Micro)
	in.MetadataOptions = &types.InstanceMetadataOptionsRequest{
		HttpTokens: types.HttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(3),
	}
	id := run(t, c, in)
	_, err := c.ModifyInstanceMetadataOptions(t.Context(), &ec2.ModifyInstanceMetadataOptionsInput{
		InstanceId: &id, HttpPutResponseHopLimit: aws.Int32(2),
	})
	must(t, err)
	if m := instanceOf(t, c, id).MetadataOptions; m.HttpTokens != types.HttpTokensStateRequired ||
		*m.HttpPutResponseHopLimit != 2 || m.HttpEndpoint != types.InstanceMetadataEndpointStateEnabled {
		t.Errorf("metadata options %+v", m)
	}
}

func TestMonitoringIsSwitched(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	id := run(t, c, runInput(unique(t), types.InstanceTypeT3Micro))
	on, err := c.MonitorInstances(t.Context(), &ec2.MonitorInstancesInput{InstanceIds: []string{id}})
	must(t, err)
	if on.InstanceMonitorings[0].Monitoring.State != types.MonitoringStatePending ||
		instanceOf(t, c, id).Monitoring.State != types.MonitoringStateEnabled {
		t.Errorf("answered %+v", on.InstanceMonitorings)
	}
	_, err = c.UnmonitorInstances(t.Context(), &ec2.UnmonitorInstancesInput{InstanceIds: []string{id}})
	must(t, err)
	if got := instanceOf(t, c, id).Monitoring.State; got != types.MonitoringStateDisabled {
		t.Errorf("monitoring is %s", got)
	}
}

// makeProfile creates an instance profile with a plain request: the tests need IAM's SDK for nothing else.
func makeProfile(t *testing.T, w *world, name string) {
	t.Helper()
	body := url.Values{"Action": {"CreateInstanceProfile"}, "Version": {"2010-05-08"}, "InstanceProfileName": {
		name,
	}}.Encode()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.outside.URL, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	sum := sha256.Sum256([]byte(body))
	must(t, v4.NewSigner().SignHTTP(t.Context(), aws.Credentials{AccessKeyID: keyOne, SecretAccessKey: "secret"},
		req, hex.EncodeToString(sum[:]), "iam", "us-east-1", time.Now()))
	resp, err := w.outside.Client().Do(req)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
}

// TestANewProfileShowsLater checks that EC2 accepts a new IAM profile only after some time, and that a caller that
// waits succeeds.
func TestANewProfileShowsLater(t *testing.T) {
	w, later := timed(t)
	c, name := w.ec2(keyOne, "eu-west-1"), unique(t)
	makeProfile(t, w, name)
	w.DelayProfiles(2 * time.Minute)
	in := runInput(unique(t), types.InstanceTypeT3Micro)
	in.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: &name}
	_, err := c.RunInstances(t.Context(), in)
	wantCode(t, err, "InvalidParameterValue")
	if err == nil || !strings.Contains(err.Error(), "iamInstanceProfile.name") {
		t.Errorf("got %v", err)
	}
	*later = 3 * time.Minute
	run(t, c, in)
}

func TestAReplacedProfileShows(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	var names []string
	for range 2 {
		names = append(names, unique(t))
		makeProfile(t, w, names[len(names)-1])
	}
	in := runInput(unique(t), types.InstanceTypeT3Micro)
	in.IamInstanceProfile = &types.IamInstanceProfileSpecification{Name: &names[0]}
	id := run(t, c, in)
	out, err := c.DescribeIamInstanceProfileAssociations(t.Context(), &ec2.DescribeIamInstanceProfileAssociationsInput{
		Filters: []types.Filter{
			{Name: aws.String("instance-id"), Values: []string{id}},
			{Name: aws.String("state"), Values: []string{"associating", "associated"}},
		},
	})
	must(t, err)
	_, err = c.ReplaceIamInstanceProfileAssociation(t.Context(), &ec2.ReplaceIamInstanceProfileAssociationInput{
		AssociationId:      out.IamInstanceProfileAssociations[0].AssociationId,
		IamInstanceProfile: &types.IamInstanceProfileSpecification{Name: &names[1]},
	})
	must(t, err)
	if p := instanceOf(t, c, id).IamInstanceProfile; p == nil || *p.Arn != "arn:aws:iam::"+accountOne+
		":instance-profile/"+names[1] {
		t.Errorf("profile %+v", p)
	}
}
