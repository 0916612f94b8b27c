package ec2

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/portico-platform/portico/api/v1alpha1"
)

var theTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const profileARN = "arn:aws:iam::" + account + ":instance-profile/teams/worker"

// GetInstanceProfile returns the profile worker once it has been created.
func (f *fakeEC2) GetInstanceProfile(_ context.Context, in *iam.GetInstanceProfileInput, _ ...func(*iam.Options)) (
	*iam.GetInstanceProfileOutput, error,
) {
	if err := f.refuse["GetInstanceProfile"]; err != nil {
		return nil, err
	}
	if f.profileMade.IsZero() || aws.ToString(in.InstanceProfileName) != "worker" {
		return nil, code("NoSuchEntity")
	}
	return &iam.GetInstanceProfileOutput{
		InstanceProfile: &iamtypes.InstanceProfile{Arn: aws.String(profileARN), CreateDate: &f.profileMade},
	}, nil
}

// EC2 does not know an instance profile for some minutes after IAM has created it: the operator waits. A missing, old
// or foreign profile is an error in the spec.
func TestANewInstanceProfileIsWaitedFor(t *testing.T) {
	for name, row := range map[string]struct {
		profile string
		age     time.Duration
		iam     error
		reason  string
		says    string
	}{
		"just made":            {"worker", time.Second, nil, "Settling", "the instance profile worker was created a moment ago"},
		"just made, by ARN":    {profileARN, 4 * time.Minute, nil, "Settling", "EC2 does not know it yet"},
		"by another one's ARN": {"arn:aws:iam::999999999999:instance-profile/worker", time.Second, nil, "InvalidSpec", "no instance profile"},
		"made long ago":        {"worker", 6 * time.Minute, nil, "InvalidSpec", "though IAM has it"},
		"not there":            {"other", time.Second, nil, "InvalidSpec", "no instance profile other in this account"},
		"not to be read":       {"worker", time.Second, code("AccessDenied"), "InvalidSpec", "no instance profile worker"},
		"IAM throttles":        {"worker", time.Second, code("Throttling"), "Throttled", "slows down"},
	} {
		f := &fakeEC2{profileMade: theTime.Add(-row.age)}
		a, obj := adapterOf(f), objectOf(func(s *v1alpha1.EC2InstanceSpec) { s.IAMInstanceProfile = row.profile })
		f.refuse = map[string]error{"RunInstances": errProfile, "GetInstanceProfile": row.iam}
		t.Run(name, func(t *testing.T) {
			wantPause(t, a.launch(obj).Do(t.Context()), row.reason, row.says)
		})
	}
	f := &fakeEC2{}
	a, obj := adapterOf(f), objectOf()
	launchOne(t, a, obj)
	f.profileMade, f.refuse = theTime, map[string]error{"AssociateIamInstanceProfile": errProfile}
	obj.Spec.IAMInstanceProfile = "worker"
	actions, err := a.Plan(obj, observe(t, a, obj))
	if err != nil || len(actions) != 1 {
		t.Fatalf("%v, %v", actions, err)
	}
	wantPause(t, actions[0].Do(t.Context()), "Settling", "worker was created a moment ago")
}
