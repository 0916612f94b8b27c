package ec2

import (
	"cmp"
	"context"
	"errors"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// standard is the credit option that costs nothing beyond the price of the machine.
const standard = "standard"

// credits are read with a call of their own. AWS launches burstable types except T2 as unlimited, which costs extra
// without notice.
var credits = call{
	settings: []setting{{
		Path: "creditSpecification", Default: standard,
		Want: external.Text(func(o object) string { return o.Spec.CreditSpecification }),
		Have: func(seen *instanceState) string { return aws.ToString(seen.credits) },
	}},
	read: func(seen *instanceState) bool { return seen.credits != nil },
	name: always("ModifyInstanceCreditSpecification"),
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		out, err := i.svc.ModifyInstanceCreditSpecification(ctx, &ec2.ModifyInstanceCreditSpecificationInput{
			InstanceCreditSpecifications: []ec2types.InstanceCreditSpecificationRequest{
				{InstanceId: seen.vm.InstanceId, CpuCredits: &changes[0].To},
			},
		})
		if err != nil {
			return err
		}
		if len(out.UnsuccessfulInstanceCreditSpecifications) == 0 {
			return nil
		}
		if failed := out.UnsuccessfulInstanceCreditSpecifications[0].Error; failed != nil {
			return &smithy.GenericAPIError{Code: string(failed.Code), Message: aws.ToString(failed.Message)}
		}
		return errors.New("EC2 ModifyInstanceCreditSpecification changed nothing, and gives no reason")
	},
}

var burstableType = regexp.MustCompile(`^t[2-9][a-z]*\.`)

// isBurstable reports whether a type has CPU credits; for other types EC2 refuses calls about them.
func isBurstable(instanceType string) bool { return burstableType.MatchString(instanceType) }

// launchCredits returns the credit option of a launch: standard unless the owner says otherwise.
func launchCredits(s *v1alpha1.EC2InstanceSpec) *ec2types.CreditSpecificationRequest {
	if !isBurstable(s.InstanceType) {
		return nil
	}
	return &ec2types.CreditSpecificationRequest{CpuCredits: aws.String(cmp.Or(s.CreditSpecification, standard))}
}

func (i *instance) readCredits(ctx context.Context, seen *instanceState) (*string, error) {
	out, err := i.svc.DescribeInstanceCreditSpecifications(ctx, &ec2.DescribeInstanceCreditSpecificationsInput{
		InstanceIds: []string{seen.id()},
	})
	if err != nil {
		return nil, explain(err)
	}
	for _, one := range out.InstanceCreditSpecifications {
		if aws.ToString(one.InstanceId) == seen.id() && one.CpuCredits != nil {
			return one.CpuCredits, nil
		}
	}
	return nil, errors.New("EC2 DescribeInstanceCreditSpecifications: the answer does not hold " + seen.id() +
		", and no error")
}
