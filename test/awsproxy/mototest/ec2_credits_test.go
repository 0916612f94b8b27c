//go:build integration

package mototest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func creditsOf(t *testing.T, c *ec2.Client, id string) string {
	t.Helper()
	out, err := c.DescribeInstanceCreditSpecifications(t.Context(), &ec2.DescribeInstanceCreditSpecificationsInput{
		InstanceIds: []string{id},
	})
	must(t, err)
	if len(out.InstanceCreditSpecifications) != 1 || *out.InstanceCreditSpecifications[0].InstanceId != id {
		t.Fatalf("answered %+v", out.InstanceCreditSpecifications)
	}
	return *out.InstanceCreditSpecifications[0].CpuCredits
}

// TestBurstableInstancesAreUnlimitedUnlessTheLaunchSaysOtherwise checks the default of T3: it can use CPU without
// limit, which costs money.
func TestBurstableInstancesAreUnlimitedUnlessTheLaunchSaysOtherwise(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	for _, row := range []struct {
		kind        types.InstanceType
		asked, want string
	}{
		{types.InstanceTypeT3Micro, "", "unlimited"}, {types.InstanceTypeT2Micro, "", "standard"}, {types.InstanceTypeT3Micro, "standard", "standard"},
	} {
		in := runInput(unique(t), row.kind)
		if row.asked != "" {
			in.CreditSpecification = &types.CreditSpecificationRequest{CpuCredits: &row.asked}
		}
		if got := creditsOf(t, c, run(t, c, in)); got != row.want {
			t.Errorf("%s asked for %q is %s", row.kind, row.asked, got)
		}
	}
}

func TestCPUCreditsAreOfBurstableTypesOnly(t *testing.T) {
	w := newWorld(t)
	c := w.ec2(keyOne, "eu-west-1")
	in := runInput(unique(t), types.InstanceTypeM5Large)
	in.CreditSpecification = &types.CreditSpecificationRequest{CpuCredits: aws.String("standard")}
	_, err := c.RunInstances(t.Context(), in)
	wantCode(t, err, "InvalidParameterCombination")
	id := run(t, c, runInput(unique(t), types.InstanceTypeM5Large))
	_, err = c.DescribeInstanceCreditSpecifications(t.Context(), &ec2.DescribeInstanceCreditSpecificationsInput{
		InstanceIds: []string{id},
	})
	wantCode(t, err, "InvalidParameterValue")
	change := func(id string) *ec2.ModifyInstanceCreditSpecificationOutput {
		out, err := c.ModifyInstanceCreditSpecification(t.Context(), &ec2.ModifyInstanceCreditSpecificationInput{
			InstanceCreditSpecifications: []types.InstanceCreditSpecificationRequest{
				{InstanceId: &id, CpuCredits: aws.String("standard")},
			},
		})
		must(t, err)
		return out
	}
	if got := change(id).UnsuccessfulInstanceCreditSpecifications; len(got) != 1 ||
		got[0].Error.Code != "InstanceCreditSpecification.NotSupported" {
		t.Errorf("answered %+v", got)
	}
	id = run(t, c, runInput(unique(t), types.InstanceTypeT3Micro))
	if got := change(id).SuccessfulInstanceCreditSpecifications; len(got) != 1 || creditsOf(t, c, id) != "standard" {
		t.Errorf("answered %+v, and it is %s", got, creditsOf(t, c, id))
	}
}
