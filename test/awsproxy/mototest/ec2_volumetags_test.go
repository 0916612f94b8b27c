//go:build integration

package mototest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// tagged sets one tag directly, past the operator.
func tagged(t *testing.T, w *world, id, key, value string) {
	t.Helper()
	_, err := ec2.NewFromConfig(config(w.outside, keyOne, "eu-west-1")).CreateTags(t.Context(), &ec2.CreateTagsInput{
		Resources: []string{id}, Tags: []types.Tag{{Key: &key, Value: &value}},
	})
	must(t, err)
}

// TestAVolumeIsChangedByItsOwnTags checks that only a volume's own tags give the operator permission on it, not those
// of its instance.
func TestAVolumeIsChangedByItsOwnTags(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	id := run(t, c, runInput(unique(t), types.InstanceTypeT3Micro))
	tagged(t, w, id, "portico.dev/namespace", "team")
	volume := *volumesOf(t, c, id)["/dev/sda1"].VolumeId
	grow := &ec2.ModifyVolumeInput{VolumeId: &volume, Size: aws.Int32(40)}
	keep := &ec2.ModifyInstanceAttributeInput{
		InstanceId: &id, BlockDeviceMappings: []types.InstanceBlockDeviceMappingSpecification{{
			DeviceName: aws.String("/dev/sda1"), Ebs: &types.EbsInstanceBlockDeviceSpecification{
				DeleteOnTermination: aws.Bool(false),
			},
		}},
	}
	mark := &ec2.CreateTagsInput{
		Resources: []string{volume},
		Tags:      []types.Tag{{Key: aws.String("portico.dev/namespace"), Value: aws.String("team")}},
	}
	_, err := c.ModifyVolume(t.Context(), grow)
	wantCode(t, err, "UnauthorizedOperation")
	wantStatus(t, err, 403)
	_, err = c.ModifyInstanceAttribute(t.Context(), keep)
	wantCode(t, err, "UnauthorizedOperation")
	_, err = c.CreateTags(t.Context(), mark)
	wantCode(t, err, "UnauthorizedOperation")

	tagged(t, w, volume, "portico.dev/adopt", "team/worker")
	unmark := &ec2.DeleteTagsInput{
		Resources: []string{volume}, Tags: []types.Tag{{Key: aws.String("portico.dev/adopt")}},
	}
	_, err = c.DeleteTags(t.Context(), unmark)
	wantCode(t, err, "UnauthorizedOperation")
	_, err = c.CreateTags(t.Context(), mark)
	must(t, err)
	_, err = c.DeleteTags(t.Context(), unmark)
	must(t, err)
	_, err = c.ModifyVolume(t.Context(), grow)
	must(t, err)
	_, err = c.ModifyInstanceAttribute(t.Context(), keep)
	must(t, err)
	_, err = c.ModifyVolume(t.Context(), &ec2.ModifyVolumeInput{
		VolumeId: aws.String("vol-00000000"), Size: aws.Int32(40),
	})
	wantCode(t, err, "InvalidVolume.NotFound")
}
