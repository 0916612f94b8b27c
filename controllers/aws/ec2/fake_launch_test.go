package ec2

import (
	"context"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// DescribeImages returns images that the fake does not know as public images of another account.
func (f *fakeEC2) DescribeImages(_ context.Context, in *ec2.DescribeImagesInput, _ ...opt) (
	*ec2.DescribeImagesOutput, error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeImages"); err != nil {
		return nil, err
	}
	out := &ec2.DescribeImagesOutput{}
	for _, id := range in.ImageIds {
		image, known := f.images[id]
		if !known {
			image = ec2types.Image{OwnerId: aws.String("999999999999"), Public: aws.Bool(true)}
		}
		image.ImageId = &id
		out.Images = append(out.Images, image)
	}
	return out, nil
}

func (f *fakeEC2) DescribeSnapshots(_ context.Context, in *ec2.DescribeSnapshotsInput, _ ...opt) (
	*ec2.DescribeSnapshotsOutput, error,
) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeSnapshots"); err != nil {
		return nil, err
	}
	out := &ec2.DescribeSnapshotsOutput{}
	for _, id := range in.SnapshotIds {
		snapshot, known := f.snapshots[id]
		if !known {
			return nil, code("InvalidSnapshot.NotFound")
		}
		snapshot.SnapshotId = &id
		out.Snapshots = append(out.Snapshots, snapshot)
	}
	return out, nil
}

func (f *fakeEC2) RunInstances(_ context.Context, in *ec2.RunInstancesInput, _ ...opt) (
	*ec2.RunInstancesOutput, error,
) {
	var vm ec2types.Instance
	err := f.write("RunInstances", func() error {
		if first, ok := f.byToken[*in.ClientToken]; ok {
			if !reflect.DeepEqual(first, in) {
				return code("IdempotentParameterMismatch")
			}
			if slices.Contains(f.lacks, in.InstanceType) {
				return code("InsufficientInstanceCapacity")
			}
			if !f.shows(*in.ClientToken) {
				return code("IdempotentInstanceTerminated")
			}
		} else {
			if f.byToken == nil {
				f.byToken = map[string]*ec2.RunInstancesInput{}
			}
			f.byToken[*in.ClientToken] = in
			if slices.Contains(f.lacks, in.InstanceType) {
				return code("InsufficientInstanceCapacity")
			}
			f.machines = append(f.machines, f.make(in))
		}
		for _, m := range f.machines {
			if m.token == *in.ClientToken {
				vm = m.shown(false)
			}
		}
		return nil
	})
	return &ec2.RunInstancesOutput{Instances: []ec2types.Instance{vm}}, err
}
