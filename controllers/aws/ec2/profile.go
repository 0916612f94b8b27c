package ec2

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/external"
)

// profile is the instance profile. EC2 reports its ARN; the spec may give the name, which is the ARN's last part.
var profile = call{
	settings: []setting{{
		Path: "iamInstanceProfile",
		Want: external.Text(func(o object) string { return o.Spec.IAMInstanceProfile }),
		Have: func(seen *instanceState) string {
			if seen.vm.IamInstanceProfile == nil {
				return ""
			}
			return aws.ToString(seen.vm.IamInstanceProfile.Arn)
		},
		Same: func(have, want string) bool {
			return want != "" && !isARN(want) && have[strings.LastIndexByte(have, '/')+1:] == want
		},
	}},
	name: func(changes []external.Change) string {
		switch {
		case changes[0].From == "":
			return "AssociateIamInstanceProfile"
		case changes[0].To == "":
			return "DisassociateIamInstanceProfile"
		default:
			return "ReplaceIamInstanceProfileAssociation"
		}
	},
	references: func(changes []external.Change) []external.Reference {
		return []external.Reference{{Kind: reference.InstanceProfile, Name: changes[0].To}}
	},
	do: func(ctx context.Context, i *instance, seen *instanceState, changes []external.Change) error {
		err := i.setProfile(ctx, seen, changes[0].To)
		if isProfile(err) {
			return i.explainProfile(ctx, changes[0].To)
		}
		return err
	},
}

func isARN(nameOrARN string) bool { return strings.HasPrefix(nameOrARN, "arn:") }

func profileOf(nameOrARN string) *ec2types.IamInstanceProfileSpecification {
	if isARN(nameOrARN) {
		return &ec2types.IamInstanceProfileSpecification{Arn: &nameOrARN}
	}
	return &ec2types.IamInstanceProfileSpecification{Name: &nameOrARN}
}

// setProfile changes the only association that an instance can have, by its current ID.
func (i *instance) setProfile(ctx context.Context, seen *instanceState, want string) error {
	id, err := i.association(ctx, seen)
	if err != nil {
		return err
	}
	switch {
	case id == nil && want == "":
		return nil
	case id == nil:
		_, err = i.svc.AssociateIamInstanceProfile(ctx, &ec2.AssociateIamInstanceProfileInput{
			InstanceId: seen.vm.InstanceId, IamInstanceProfile: profileOf(want),
		})
	case want == "":
		_, err = i.svc.DisassociateIamInstanceProfile(ctx, &ec2.DisassociateIamInstanceProfileInput{AssociationId: id})
	default:
		_, err = i.svc.ReplaceIamInstanceProfileAssociation(ctx, &ec2.ReplaceIamInstanceProfileAssociationInput{
			AssociationId: id, IamInstanceProfile: profileOf(want),
		})
	}
	return err
}

// association returns the ID of the instance's association; nil if it has none.
func (i *instance) association(ctx context.Context, seen *instanceState) (*string, error) {
	out, err := i.svc.DescribeIamInstanceProfileAssociations(ctx, &ec2.DescribeIamInstanceProfileAssociationsInput{
		Filters: []ec2types.Filter{filter("instance-id", seen.id()), filter("state", "associating", "associated")},
	})
	if err != nil {
		return nil, err
	}
	for _, a := range out.IamInstanceProfileAssociations {
		return a.AssociationId, nil
	}
	return nil, nil
}
