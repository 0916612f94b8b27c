package ec2

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// profiles lists the calls that Portico makes to IAM.
type profiles interface {
	GetInstanceProfile(context.Context, *iam.GetInstanceProfileInput, ...func(*iam.Options)) (
		*iam.GetInstanceProfileOutput, error)
}

// profileSettling is how long EC2 may not find an instance profile that IAM has. IAM's guide ("Changes that I make are
// not always immediately visible") gives no time; two minutes are usual.
const profileSettling = 5 * time.Minute

// explainProfile says why EC2 does not find the instance profile, which was not changed: it may be too new.
func (i *instance) explainProfile(ctx context.Context, nameOrARN string) error {
	name := nameOrARN[strings.LastIndexByte(nameOrARN, '/')+1:]
	out, err := i.svc.profiles.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	switch {
	case cloud.HasCode(err, "NoSuchEntity"), cloud.IsDenied(err):
		return reference.NoProfile(nameOrARN)
	case err != nil:
		return cloud.Explain(err)
	case out.InstanceProfile == nil || (isARN(nameOrARN) && aws.ToString(out.InstanceProfile.Arn) != nameOrARN):
		return reference.NoProfile(nameOrARN)
	case i.now().Sub(aws.ToTime(out.InstanceProfile.CreateDate)) < profileSettling:
		return engine.Wait(v1alpha1.ReasonSettling, 10*time.Second, "the instance profile %s was created a moment "+
			"ago, and EC2 does not know it yet; nothing was changed, and Portico tries again", nameOrARN)
	}
	return engine.Blocked(v1alpha1.ReasonInvalidSpec, "EC2 does not find the instance profile %s, though IAM has it; "+
		"nothing was changed. Ask a platform admin to look at the profile and its role, or name another "+
		"iamInstanceProfile; Portico tries again every 5 minutes", nameOrARN)
}
