//go:build integration

package mototest_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func runInput(token string, instance types.InstanceType) *ec2.RunInstancesInput {
	return &ec2.RunInstancesInput{
		ClientToken: &token, ImageId: aws.String("ami-12c6146b"), InstanceType: instance,
		MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		TagSpecifications: []types.TagSpecification{{
			ResourceType: types.ResourceTypeInstance,
			Tags:         []types.Tag{{Key: aws.String("token"), Value: &token}},
		}},
	}
}

func run(t *testing.T, c *ec2.Client, in *ec2.RunInstancesInput) string {
	t.Helper()
	out, err := c.RunInstances(t.Context(), in)
	must(t, err)
	return *out.Instances[0].InstanceId
}

func TestRunInstancesHonoursClientToken(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	token := unique(t)
	first := run(t, c, runInput(token, types.InstanceTypeT3Micro))
	if again := run(t, c, runInput(token, types.InstanceTypeT3Micro)); again != first {
		t.Errorf("the same token made %s and %s", first, again)
	}
	_, err := c.RunInstances(t.Context(), runInput(token, types.InstanceTypeT3Large))
	wantCode(t, err, "IdempotentParameterMismatch")

	if other := run(t, c, runInput(unique(t), types.InstanceTypeT3Micro)); other == first {
		t.Error("another token got the same instance")
	}
	if other := run(t, w.ec2(keyOne, "us-east-1"), runInput(token, types.InstanceTypeT3Micro)); other == first {
		t.Error("another region got the same instance")
	}
	if other := run(t, w.ec2(keyTwo, "eu-west-1"), runInput(token, types.InstanceTypeT3Micro)); other == first {
		t.Error("another account got the same instance")
	}
}

// TestRunInstancesRepeatedReportsTheInstanceAsItIs checks that a repeated call returns the instance's current state.
func TestRunInstancesRepeatedReportsTheInstanceAsItIs(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	token := unique(t)
	id := run(t, c, runInput(token, types.InstanceTypeT3Micro))
	_, err := c.StopInstances(t.Context(), &ec2.StopInstancesInput{InstanceIds: []string{id}})
	must(t, err)
	out, err := c.RunInstances(t.Context(), runInput(token, types.InstanceTypeT3Micro))
	must(t, err)
	if got := out.Instances[0]; *got.InstanceId != id || got.State.Name != types.InstanceStateNameStopped {
		t.Errorf("got %s, %s; want %s, stopped", *got.InstanceId, got.State.Name, id)
	}
	_, err = c.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	must(t, err)
	_, err = c.RunInstances(t.Context(), runInput(token, types.InstanceTypeT3Micro))
	wantCode(t, err, "IdempotentInstanceTerminated")
}

func TestRunInstancesConcurrentlyWithOneToken(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	token := unique(t)
	ids := make([]string, 8)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			if out, err := c.RunInstances(t.Context(), runInput(token, types.InstanceTypeT3Micro)); err == nil {
				ids[i] = *out.Instances[0].InstanceId
			}
		})
	}
	wg.Wait()
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) != 1 || ids[0] == "" {
		t.Errorf("one token made %v", ids)
	}
}

func TestDescribeInstancesByClientToken(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	token := unique(t)
	id := run(t, c, runInput(token, types.InstanceTypeT3Micro))
	for asked, want := range map[string]int{token: 1, "none-such": 0} {
		out, err := c.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{
			Filters: []types.Filter{{Name: aws.String("client-token"), Values: []string{asked}}},
		})
		must(t, err)
		if len(out.Reservations) != want {
			t.Fatalf("token %s: %d reservations, want %d", asked, len(out.Reservations), want)
		}
		if want > 0 && *out.Reservations[0].Instances[0].InstanceId != id {
			t.Errorf("another instance than %s", id)
		}
	}
}
