package reference

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	taggingtypes "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/smithy-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// shared is an account with resources of several teams: tags by ARN, and by the name of an instance profile.
type shared struct {
	tags  map[string]map[string]string
	fail  error
	calls []string
}

func (s *shared) GetResources(_ context.Context, in *tagging.GetResourcesInput, _ ...func(*tagging.Options)) (
	*tagging.GetResourcesOutput, error,
) {
	s.calls = append(s.calls, "GetResources")
	out := &tagging.GetResourcesOutput{}
	for arn, tags := range s.tags {
		if len(in.ResourceARNList) > 0 && !slices.Contains(in.ResourceARNList, arn) {
			continue
		}
		m := taggingtypes.ResourceTagMapping{ResourceARN: &arn}
		for key, value := range tags {
			m.Tags = append(m.Tags, taggingtypes.Tag{Key: aws.String(key), Value: aws.String(value)})
		}
		out.ResourceTagMappingList = append(out.ResourceTagMappingList, m)
	}
	return out, s.fail
}

func (s *shared) GetInstanceProfile(_ context.Context, in *iam.GetInstanceProfileInput, _ ...func(*iam.Options)) (
	*iam.GetInstanceProfileOutput, error,
) {
	s.calls = append(s.calls, "GetInstanceProfile")
	tags, ok := s.tags[*in.InstanceProfileName]
	if !ok && s.fail == nil {
		return nil, &smithy.GenericAPIError{Code: "NoSuchEntity"}
	}
	profile := &iamtypes.InstanceProfile{}
	for key, value := range tags {
		profile.Tags = append(profile.Tags, iamtypes.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	return &iam.GetInstanceProfileOutput{InstanceProfile: profile}, s.fail
}

func (s *shared) DescribeKeyPairs(_ context.Context, in *ec2.DescribeKeyPairsInput, _ ...func(*ec2.Options)) (
	*ec2.DescribeKeyPairsOutput, error,
) {
	s.calls = append(s.calls, "DescribeKeyPairs")
	tags, ok := s.tags["key-pair/"+in.KeyNames[0]]
	if !ok && s.fail == nil {
		return nil, &smithy.GenericAPIError{Code: "InvalidKeyPair.NotFound"}
	}
	pair := ec2types.KeyPairInfo{KeyName: &in.KeyNames[0]}
	for key, value := range tags {
		pair.Tags = append(pair.Tags, ec2types.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	return &ec2.DescribeKeyPairsOutput{KeyPairs: []ec2types.KeyPairInfo{pair}}, s.fail
}

const (
	ec2ARN = "arn:aws:ec2:eu-west-1:111122223333:"
	sqsARN = "arn:aws:sqs:eu-west-1:111122223333:"
	kmsARN = "arn:aws:kms:eu-west-1:111122223333:"
)

func of(namespace string) map[string]string {
	return map[string]string{"portico.dev/namespace": namespace}
}

func with(key, value string) map[string]string {
	tags := of("payments")
	tags[key] = value
	return tags
}

func account() *shared {
	return &shared{tags: map[string]map[string]string{
		ec2ARN + "subnet/subnet-ours": of("payments"), ec2ARN + "subnet/subnet-theirs": of("search"),
		ec2ARN + "subnet/subnet-bare":  {"Name": "main"},
		ec2ARN + "subnet/subnet-older": with("portico.dev/namespace-uid", "older"), ec2ARN + "subnet/subnet-full": with(
			"portico.dev/namespace-uid", "ns-uid"),
		ec2ARN + "subnet/subnet-elsewhere": with("portico.dev/cluster", "other"), ec2ARN + "subnet/subnet-offered": {
			"portico.dev/adopt": "payments/ledger",
		},
		ec2ARN + "security-group/sg-ours": of("payments"), ec2ARN + "security-group/sg-theirs": of("search"),
		"arn:aws:rds:eu-west-1:111122223333:subgrp:ours": of("payments"),
		kmsARN + "key/1-ours":                            of("payments"), kmsARN + "key/2-theirs": of("search"),
		sqsARN + "ours": of("payments"), sqsARN + "theirs": of("search"),
		"web": of("payments"), "admin": of("platform"),
		"key-pair/ours": of("payments"), "key-pair/theirs": of("search"), "key-pair/bare": {},
		"arn:aws:rds:eu-west-1:111122223333:pg:ours":   of("payments"),
		"arn:aws:rds:eu-west-1:111122223333:pg:theirs": of("search"),
	}}
}

func checker(s *shared, rules v1alpha1.AWSRules) *Checker {
	return &Checker{svc: &service{tags: s, profiles: s, keyPairs: s}, session: &cloud.Session{
		Config: aws.Config{Region: "eu-west-1"}, AccountID: "111122223333", Partition: "aws", Provider: "aws-prod",
		Rules:    rules,
		Identity: cloud.Identity{Cluster: "cluster", Kind: "EC2Instance", NamespaceUID: "ns-uid"},
	}}
}

func ledger() *v1alpha1.EC2Instance {
	return &v1alpha1.EC2Instance{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "ledger", UID: "uid"}}
}

// A team may name its own resources and those that are for all; not another team's, nor those without an owner.
func TestWhatANamespaceMayName(t *testing.T) {
	const otherKey = "arn:aws:kms:eu-west-1:999999999999:key/3"
	rules := v1alpha1.AWSRules{
		AllowedSubnets: []string{"subnet-public"}, AllowedSubnetGroups: []string{"Main"}, AllowedSecurityGroups: []string{"*"},
		AllowedInstanceProfiles: []string{"arn:aws:iam::111122223333:instance-profile/team/logs"}, AllowedKMSKeys: []string{"alias/shared", "4-all", otherKey},
	}
	for _, row := range []struct {
		kind, name string
		rules      v1alpha1.AWSRules
		refused    bool
		calls      int
	}{
		{Subnet, "subnet-ours", v1alpha1.AWSRules{}, false, 1},
		{Subnet, "subnet-full", v1alpha1.AWSRules{}, false, 1},
		{Subnet, "subnet-offered", v1alpha1.AWSRules{}, false, 1},
		{Subnet, "subnet-theirs", v1alpha1.AWSRules{}, true, 1},
		{Subnet, "subnet-bare", v1alpha1.AWSRules{}, true, 1},
		{Subnet, "subnet-older", v1alpha1.AWSRules{}, true, 1},
		{Subnet, "subnet-elsewhere", v1alpha1.AWSRules{}, true, 1},
		{Subnet, "subnet-none", v1alpha1.AWSRules{}, true, 1},
		{Subnet, "", v1alpha1.AWSRules{}, false, 0},
		{Subnet, "subnet-public", rules, false, 0},
		{Subnet, "subnet-ours", rules, false, 1},
		{Subnet, "subnet-theirs", rules, true, 1},
		{SecurityGroup, "sg-ours", v1alpha1.AWSRules{}, false, 1},
		{SecurityGroup, "sg-theirs", v1alpha1.AWSRules{}, true, 1},
		{SecurityGroup, "sg-theirs", rules, false, 0},
		{SubnetGroup, "OURS", v1alpha1.AWSRules{}, false, 1},
		{SubnetGroup, "main", rules, false, 0},
		{SubnetGroup, "main", v1alpha1.AWSRules{}, true, 1},
		{InstanceProfile, "web", v1alpha1.AWSRules{}, false, 1},
		{InstanceProfile, "arn:aws:iam::111122223333:instance-profile/any/web", v1alpha1.AWSRules{}, false, 1},
		{InstanceProfile, "arn:aws:iam::999999999999:instance-profile/web", v1alpha1.AWSRules{}, true, 0},
		{InstanceProfile, "admin", v1alpha1.AWSRules{}, true, 1},
		{InstanceProfile, "logs", rules, false, 0},
		{DeadLetterQueue, sqsARN + "ours", v1alpha1.AWSRules{}, false, 1},
		{DeadLetterQueue, sqsARN + "theirs", v1alpha1.AWSRules{}, true, 1},
		{DeadLetterQueue, sqsARN + "theirs", v1alpha1.AWSRules{AllowedDeadLetterQueues: []string{sqsARN + "theirs"}}, false, 0},
		{KeyPair, "ours", v1alpha1.AWSRules{}, false, 1},
		{KeyPair, "theirs", v1alpha1.AWSRules{}, true, 1},
		{KeyPair, "bare", v1alpha1.AWSRules{}, true, 1},
		{KeyPair, "none", v1alpha1.AWSRules{}, true, 1},
		{KeyPair, "", v1alpha1.AWSRules{}, false, 0},
		{KeyPair, "bare", v1alpha1.AWSRules{AllowedKeyPairs: []string{"bare"}}, false, 0},
		{ParameterGroup, "Ours", v1alpha1.AWSRules{}, false, 1},
		{ParameterGroup, "theirs", v1alpha1.AWSRules{}, true, 1},
		{ParameterGroup, "none", v1alpha1.AWSRules{}, true, 1},
		{ParameterGroup, "default.postgres16", v1alpha1.AWSRules{}, false, 0},
		{ParameterGroup, "Tuned", v1alpha1.AWSRules{AllowedParameterGroups: []string{"tuned"}}, false, 0},
		{KMSKey, "1-ours", v1alpha1.AWSRules{}, false, 1},
		{KMSKey, kmsARN + "key/1-ours", v1alpha1.AWSRules{}, false, 1},
		{KMSKey, "2-theirs", v1alpha1.AWSRules{}, true, 1},
		{KMSKey, otherKey, v1alpha1.AWSRules{}, true, 1},
		{KMSKey, otherKey, rules, false, 0},
		{KMSKey, "alias/ours", v1alpha1.AWSRules{}, true, 0},
		{KMSKey, "alias/aws/ebs", v1alpha1.AWSRules{}, false, 0},
		{KMSKey, kmsARN + "alias/aws/s3", v1alpha1.AWSRules{}, false, 0},
		{KMSKey, "alias/shared", rules, false, 0},
		{KMSKey, kmsARN + "alias/shared", rules, false, 0},
		{KMSKey, kmsARN + "key/4-all", rules, false, 0},
		{KMSKey, "arn:aws:kms:us-east-1:111122223333:key/4-all", rules, true, 1},
	} {
		s := account()
		err := checker(s, row.rules).Admit(t.Context(), ledger(), []external.Reference{
			{Kind: row.kind, Name: row.name},
		})
		wait, _ := engine.AsWait(err)
		if (err != nil) != row.refused || row.refused && wait.Reason != "ReferenceNotAllowed" {
			t.Errorf("%s %s: error = %v, want it refused: %v", row.kind, row.name, err, row.refused)
		}
		if len(s.calls) != row.calls {
			t.Errorf("%s %s: calls %v, want %d", row.kind, row.name, s.calls, row.calls)
		}
	}
}

// One call checks all references, and the error names all refused ones, with what to do.
func TestARefusalNamesAllAndSaysWhatToDo(t *testing.T) {
	s := account()
	err := checker(s, v1alpha1.AWSRules{}).Admit(t.Context(), ledger(), []external.Reference{
		{Kind: Subnet, Name: "subnet-theirs"},
		{Kind: SecurityGroup, Name: "sg-ours"},
		{Kind: SecurityGroup, Name: "sg-theirs"},
		{Kind: KMSKey, Name: "1-ours"},
		{Kind: KMSKey, Name: kmsARN + "key/1-ours"},
		{Kind: KMSKey, Name: "alias/payments"},
	})
	const want = "namespace payments cannot use the subnet subnet-theirs and the security group sg-theirs and the " +
		"KMS key alias/payments, or there is no such thing; nothing was changed. Ask a platform admin to add them to " +
		"allowedKMSKeys and allowedSecurityGroups and allowedSubnets of AWSProvider aws-prod, or to tag them " +
		"portico.dev/namespace=payments in AWS; or name another one. " +
		"The tags of a key are found by its ID or ARN only, not by an alias."
	if err == nil || err.Error() != want || !slices.Equal(s.calls, []string{"GetResources"}) {
		t.Errorf("%v\nwant %s\ncalls %v", err, want, s.calls)
	}
}

// The error does not show whether another team has a profile of this name.
func TestAProfileThatIsNotThereIsRefusedAsAnothersIs(t *testing.T) {
	err := checker(account(), v1alpha1.AWSRules{}).Admit(t.Context(), ledger(), []external.Reference{
		{Kind: InstanceProfile, Name: "none"},
	})
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != "ReferenceNotAllowed" ||
		!strings.Contains(err.Error(), "the instance profile none, or there is no such thing") {
		t.Errorf("got %v", err)
	}
}

// An error of AWS is no permission.
func TestWhatCannotBeReadIsNotAdmitted(t *testing.T) {
	for _, kind := range []string{Subnet, InstanceProfile, KeyPair, ParameterGroup} {
		s := account()
		for fail, reason := range map[error]string{
			error(&smithy.GenericAPIError{Code: "AccessDeniedException"}): "AccessDenied", errors.New("reset"): "",
		} {
			s.fail = fail
			err := checker(s, v1alpha1.AWSRules{}).Admit(t.Context(), ledger(), []external.Reference{
				{Kind: kind, Name: "web"},
			})
			if wait, ok := engine.AsWait(err); err == nil || (ok && wait.Reason != reason) {
				t.Errorf("%s, %v: %v", kind, fail, err)
			}
		}
	}
}

// If a team has a list of its own, what the account allows to all must also be on that list.
func TestATeamNarrowsWhatItMayName(t *testing.T) {
	every := []string{"*"}
	open := v1alpha1.AWSRules{
		AllowedSubnets: every, AllowedSubnetGroups: every, AllowedSecurityGroups: every, AllowedInstanceProfiles: every,
		AllowedImages:  every,
		AllowedKMSKeys: every, AllowedDeadLetterQueues: every, AllowedKeyPairs: every, AllowedParameterGroups: every,
	}
	lists := v1alpha1.TeamReferences{
		AllowedSubnets: []string{"subnet-ours"}, AllowedSubnetGroups: []string{"Ours"}, AllowedSecurityGroups: []string{"sg-ours"},
		AllowedInstanceProfiles: []string{"web"}, AllowedImages: []string{"ami-ours"}, AllowedKMSKeys: []string{"1-ours", "alias/ours"},
		AllowedDeadLetterQueues: []string{sqsARN + "ours"}, AllowedKeyPairs: []string{"ours"}, AllowedParameterGroups: []string{"Ours"},
	}
	for _, row := range []struct {
		kind, list, theirs string
		ours               []string
	}{
		{Subnet, "allowedSubnets", "subnet-theirs", []string{"subnet-ours"}},
		{SubnetGroup, "allowedSubnetGroups", "theirs", []string{"ours"}},
		{SecurityGroup, "allowedSecurityGroups", "sg-theirs", []string{"sg-ours"}},
		{InstanceProfile, "allowedInstanceProfiles", "admin", []string{"web", "arn:aws:iam::111122223333:instance-profile/team/web"}},
		{Image, "allowedImages", "ami-theirs", []string{"ami-ours"}},
		{KMSKey, "allowedKMSKeys", "2-theirs", []string{"1-ours", kmsARN + "key/1-ours", "alias/ours", kmsARN + "alias/ours", "alias/aws/ebs", ""}},
		{KMSKey, "allowedKMSKeys", "arn:aws:kms:us-east-1:111122223333:key/1-ours", nil},
		{KeyPair, "allowedKeyPairs", "theirs", []string{"ours", ""}},
		{ParameterGroup, "allowedParameterGroups", "theirs", []string{"ours", "OURS", "default.mysql8.4"}},
		{DeadLetterQueue, "allowedDeadLetterQueues", sqsARN + "theirs", []string{sqsARN + "ours"}},
	} {
		admit := func(team *v1alpha1.Team, name string) error {
			c := checker(account(), open)
			c.session.Team = team
			return c.Admit(t.Context(), ledger(), []external.Reference{{Kind: row.kind, Name: name}})
		}
		narrow := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "growth"}, Spec: v1alpha1.TeamSpec{
			Guardrails: &v1alpha1.TeamGuardrails{TeamReferences: lists},
		}}
		wide := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "growth"}, Spec: v1alpha1.TeamSpec{
			Guardrails: &v1alpha1.TeamGuardrails{},
		}}
		err := admit(narrow, row.theirs)
		wait, _ := engine.AsWait(err)
		if wait == nil || wait.Reason != v1alpha1.ReasonNotAllowed {
			t.Fatalf("%s %s: error = %v, want %s", row.kind, row.theirs, err, v1alpha1.ReasonNotAllowed)
		}
		said := "the " + row.kind + " " + row.theirs + " is not allowed: Team growth allows "
		by := ", by spec.guardrails." + row.list + "."
		if text := err.Error(); !strings.HasPrefix(text, said) || !strings.Contains(text, by) {
			t.Errorf("%s %s: error = %v, want %q, %q", row.kind, row.theirs, err, said, by)
		}
		for _, name := range row.ours {
			if err := admit(narrow, name); err != nil {
				t.Errorf("%s %s: %v", row.kind, name, err)
			}
		}
		if err := admit(wide, row.theirs); err != nil {
			t.Errorf("%s %s of a team without a list: %v", row.kind, row.theirs, err)
		}
	}
}

// A server that is not AWS may not know the tags of resources: then only the lists decide, and nothing fails.
func TestWithoutTheTaggingAPIListsDecide(t *testing.T) {
	listed := v1alpha1.AWSRules{AllowedDeadLetterQueues: []string{sqsARN + "theirs"}}
	for name, row := range map[string]struct {
		services cloud.Services
		fail     error
		tag      bool // the message advises to set one
	}{
		"there is none":            {cloud.Services{Own: map[string]string{"SQS": "http://sqs.local"}}, errors.New("it has no such service"), false},
		"the server does not know": {cloud.Services{All: "http://aws.local"}, &smithy.GenericAPIError{Code: "NotImplemented"}, true},
	} {
		s := account()
		s.fail = row.fail
		c := checker(s, listed)
		c.session.Services = row.services
		if err := c.Admit(t.Context(), ledger(), []external.Reference{
			{Kind: DeadLetterQueue, Name: sqsARN + "theirs"},
		}); err != nil {
			t.Errorf("%s: one that is listed: %v", name, err)
		}
		for _, kind := range []string{DeadLetterQueue, InstanceProfile} {
			err := c.Admit(t.Context(), ledger(), []external.Reference{{Kind: kind, Name: "ours"}})
			wait, _ := engine.AsWait(err)
			if wait == nil || wait.Reason != "ReferenceNotAllowed" ||
				strings.Contains(err.Error(), "or to tag") != row.tag {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Offers list what a namespace may name, and nothing that other teams have.
func TestWhatIsOfferedIsWhatMayBeNamed(t *testing.T) {
	s := account()
	for kind, all := range map[string][]Tagged{
		KeyPair:        {{Name: "ours", Tags: of("payments")}, {Name: "theirs", Tags: of("search")}, {Name: "bare", Tags: map[string]string{}}},
		ParameterGroup: {{Name: "ours"}, {Name: "theirs"}, {Name: "default.postgres16"}},
	} {
		usable, err := checker(s, v1alpha1.AWSRules{}).Usable(t.Context(), "payments", kind, all)
		for _, one := range all {
			if want := one.Name == "ours" || strings.HasPrefix(one.Name, "default."); usable[one.Name] != want ||
				err != nil {
				t.Errorf("%s %s: %v, %v", kind, one.Name, usable[one.Name], err)
			}
		}
	}
}
