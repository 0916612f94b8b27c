//go:build integration

package mototest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/test/awsproxy"
)

func filtered(t *testing.T, c *ec2.Client, name, value string) int {
	t.Helper()
	out, err := c.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{
		Filters: []types.Filter{{Name: &name, Values: []string{value}}},
	})
	must(t, err)
	return len(out.Reservations)
}

func TestAYoungInstanceIsDeniedToTheOperator(t *testing.T) {
	later := time.Duration(0)
	w := newWorld(t, func(o *awsproxy.Options) { o.Now = standing(&later) })
	c, token := w.ec2(keyOne, "eu-west-1"), unique(t)
	old := run(t, c, runInput(token+"-old", types.InstanceTypeT3Micro))
	later += 6 * time.Minute
	w.HideYoungInstances(5 * time.Minute)
	in := runInput(token, types.InstanceTypeT3Micro)
	id := run(t, c, in)
	if again := run(t, c, in); again != id {
		t.Errorf("the same token made %s and %s", id, again)
	}
	_, err := c.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	wantCode(t, err, "InvalidInstanceID.NotFound")
	_, err = c.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	wantCode(t, err, "InvalidInstanceID.NotFound")
	for filter, value := range map[string]string{"instance-id": id, "tag:token": token, "client-token": token} {
		if n := filtered(t, c, filter, value); n != 0 {
			t.Errorf("%s shows %d", filter, n)
		}
	}
	if n := filtered(t, c, "instance-id", old); n != 1 {
		t.Errorf("of the old one %d show", n)
	}
	behind := ec2.NewFromConfig(config(w.outside, keyOne, "eu-west-1"))
	if n := filtered(t, behind, "instance-id", id); n != 1 {
		t.Errorf("outside %d show", n)
	}
	later += 5 * time.Minute
	if n := filtered(t, c, "tag:token", token); n != 1 {
		t.Errorf("after five minutes %d show", n)
	}
	_, err = c.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	must(t, err)
}

// TestWhatDoesNotShowHidesNoOther lists page by page; hidden instances are in the middle.
func TestWhatDoesNotShowHidesNoOther(t *testing.T) {
	w := newWorld(t)
	c, token := w.ec2(keyOne, "eu-west-1"), unique(t)
	defer w.LoseTerminations()()
	var ids []string
	for i := range 5 {
		in := runInput(token+string(rune('a'+i)), types.InstanceTypeT3Micro)
		in.TagSpecifications = []types.TagSpecification{
			{ResourceType: types.ResourceTypeInstance, Tags: []types.Tag{{Key: aws.String("page"), Value: &token}}},
		}
		ids = append(ids, run(t, c, in))
	}
	_, err := c.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{ids[1], ids[3]}})
	must(t, err)
	want := []string{ids[0], ids[2], ids[4]}
	for _, size := range []int{0, 1, 2} {
		w.SetPageSize(size)
		var got []string
		pages := ec2.NewDescribeInstancesPaginator(
			c, &ec2.DescribeInstancesInput{
				Filters: []types.Filter{{Name: aws.String("tag:page"), Values: []string{token}}},
			})
		for pages.HasMorePages() {
			out, err := pages.NextPage(t.Context())
			must(t, err)
			for _, r := range out.Reservations {
				got = append(got, aws.ToString(r.Instances[0].InstanceId))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v, want %v", size, got, want)
		}
	}
	w.SetPageSize(0)
}

func TestATerminationThatIsLostLeavesAMachineRunning(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	id := run(t, c, runInput(unique(t), types.InstanceTypeT3Micro))
	end := w.LoseTerminations()
	out, err := c.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	must(t, err)
	if got := out.TerminatingInstances; len(got) != 1 || *got[0].InstanceId != id ||
		got[0].CurrentState.Name != types.InstanceStateNameShuttingDown {
		t.Errorf("answered %+v", got)
	}
	_, err = c.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	wantCode(t, err, "InvalidInstanceID.NotFound")
	end()
	if vm := instanceOf(t, c, id); vm.State.Name != types.InstanceStateNameRunning {
		t.Errorf("it is %s", vm.State.Name)
	}
}

func TestARefusedLaunchUsesUpItsToken(t *testing.T) {
	w := newWorld(t)
	c, token := w.ec2(keyOne, "eu-west-1"), unique(t)
	end := w.ExhaustCapacity("t3.micro")
	_, err := c.RunInstances(t.Context(), runInput(token, types.InstanceTypeT3Micro))
	wantCode(t, err, "InsufficientInstanceCapacity")
	_, err = c.RunInstances(t.Context(), runInput(token, types.InstanceTypeT3Large))
	wantCode(t, err, "IdempotentParameterMismatch")
	if n := filtered(t, c, "client-token", token); n != 0 {
		t.Errorf("%d instances of a refused launch", n)
	}
	end()
	run(t, c, runInput(token, types.InstanceTypeT3Micro))
	if n := filtered(t, c, "client-token", token); n != 1 {
		t.Errorf("%d instances once there is capacity again", n)
	}
}

// TestAnInstanceProfileMustExist checks the errors for a missing profile: IAM returns NoSuchEntity for its own calls,
// and EC2 names the wrong parameter.
func TestAnInstanceProfileMustExist(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	in := runInput(unique(t), types.InstanceTypeT3Micro)
	id := run(t, c, in)
	none := &types.IamInstanceProfileSpecification{Name: aws.String("none")}
	_, err := c.AssociateIamInstanceProfile(t.Context(), &ec2.AssociateIamInstanceProfileInput{
		InstanceId: &id, IamInstanceProfile: none,
	})
	wantCode(t, err, "InvalidParameterValue")
	in = runInput(unique(t), types.InstanceTypeT3Micro)
	in.IamInstanceProfile = none
	_, err = c.RunInstances(t.Context(), in)
	wantCode(t, err, "InvalidParameterValue")
}
