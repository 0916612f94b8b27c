package ec2

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// earn gives a new machine its credit option, as EC2 does.
func (m *machine) earn(in *ec2.RunInstancesInput) {
	switch kind := string(in.InstanceType); {
	case in.CreditSpecification != nil:
		m.credits = *in.CreditSpecification.CpuCredits
	case strings.HasPrefix(kind, "t2."):
		m.credits = standard
	default:
		m.credits = "unlimited"
	}
}

func (f *fakeEC2) DescribeInstanceCreditSpecifications(
	_ context.Context, in *ec2.DescribeInstanceCreditSpecificationsInput,
	_ ...opt,
) (*ec2.DescribeInstanceCreditSpecificationsOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read("DescribeInstanceCreditSpecifications"); err != nil {
		return nil, err
	}
	m, err := f.machine(&in.InstanceIds[0])
	if err != nil {
		return nil, err
	}
	if !isBurstable(string(m.vm.InstanceType)) {
		return nil, code("InvalidParameterValue")
	}
	return &ec2.DescribeInstanceCreditSpecificationsOutput{
		InstanceCreditSpecifications: []ec2types.InstanceCreditSpecification{
			{InstanceId: m.vm.InstanceId, CpuCredits: aws.String(m.credits)},
		},
	}, nil
}

// ModifyInstanceCreditSpecification returns 200 even if it changes nothing.
func (f *fakeEC2) ModifyInstanceCreditSpecification(_ context.Context, in *ec2.ModifyInstanceCreditSpecificationInput,
	_ ...opt,
) (*ec2.ModifyInstanceCreditSpecificationOutput, error) {
	out := &ec2.ModifyInstanceCreditSpecificationOutput{}
	return out, f.write("ModifyInstanceCreditSpecification", func() error {
		one := in.InstanceCreditSpecifications[0]
		m, err := f.machine(one.InstanceId)
		if err != nil {
			return err
		}
		if f.unpaid != "" {
			out.UnsuccessfulInstanceCreditSpecifications = []ec2types.UnsuccessfulInstanceCreditSpecificationItem{{
				InstanceId: one.InstanceId, Error: &ec2types.UnsuccessfulInstanceCreditSpecificationItemError{
					Code: f.unpaid, Message: aws.String("no"),
				},
			}}
			return nil
		}
		m.credits = *one.CpuCredits
		return nil
	})
}
