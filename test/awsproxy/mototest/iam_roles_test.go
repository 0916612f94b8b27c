//go:build integration

package mototest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
)

func tags(pairs ...string) (all []iamtypes.Tag) {
	for i := 0; i+1 < len(pairs); i += 2 {
		all = append(all, iamtypes.Tag{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return all
}

// wantRefused asserts the code, the status, and a part of the message.
func wantRefused(t *testing.T, err error, code string, status int, part string) {
	t.Helper()
	wantCode(t, err, code)
	wantStatus(t, err, status)
	if !strings.Contains(err.Error(), part) {
		t.Errorf("%v lacks %q", err, part)
	}
}

func TestARoleIsRefused(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	long := strings.Replace(podTrust, `"Effect"`, `"Sid":"`+strings.Repeat("x", trustQuota)+`","Effect"`, 1)
	absent := "arn:aws:iam::" + e.account + ":policy/absent"
	var many []string
	for i := range 51 {
		many = append(many, fmt.Sprint("key", i), "value")
	}
	for name, row := range map[string]struct {
		change func(*iam.CreateRoleInput)
		code   string
		status int
		part   string
	}{
		"long name": {func(in *iam.CreateRoleInput) { in.RoleName = aws.String(strings.Repeat("a", 65)) }, "ValidationError", 400, "roleName"},
		"name":      {func(in *iam.CreateRoleInput) { in.RoleName = aws.String("a/b") }, "ValidationError", 400, "roleName"},
		"path":      {func(in *iam.CreateRoleInput) { in.Path = aws.String("portico") }, "ValidationError", 400, "path"},
		"session":   {func(in *iam.CreateRoleInput) { in.MaxSessionDuration = aws.Int32(60) }, "ValidationError", 400, "maxSessionDuration"},
		"no trust":  {func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = aws.String("{}") }, "MalformedPolicyDocument", 400, ""},
		"no principal": {func(in *iam.CreateRoleInput) {
			in.AssumeRolePolicyDocument = aws.String(statements(`"Action":"sts:AssumeRole"`))
		}, "MalformedPolicyDocument", 400, "principal"},
		"resource": {func(in *iam.CreateRoleInput) {
			in.AssumeRolePolicyDocument = aws.String(
				strings.Replace(podTrust, `"Effect"`, `"Resource":"*","Effect"`, 1))
		}, "MalformedPolicyDocument", 400, "Resource"},
		"other action": {func(in *iam.CreateRoleInput) {
			in.AssumeRolePolicyDocument = aws.String(strings.Replace(podTrust, "sts:TagSession", "s3:GetObject", 1))
		}, "MalformedPolicyDocument", 400, "s3:GetObject"},
		"no service": {func(in *iam.CreateRoleInput) {
			in.AssumeRolePolicyDocument = aws.String(strings.Replace(podTrust, "pods.eks.amazonaws.com", "pods", 1))
		}, "MalformedPolicyDocument", 400, "Invalid principal"},
		"long trust":   {func(in *iam.CreateRoleInput) { in.AssumeRolePolicyDocument = &long }, "LimitExceeded", 409, "ACLSizePerRole: 2048"},
		"boundary":     {func(in *iam.CreateRoleInput) { in.PermissionsBoundary = &absent }, "NoSuchEntity", 404, "does not exist or is not attachable"},
		"reserved tag": {func(in *iam.CreateRoleInput) { in.Tags = tags("aws:x", "y") }, "InvalidInput", 400, ""},
		"many tags":    {func(in *iam.CreateRoleInput) { in.Tags = tags(many...) }, "LimitExceeded", 409, "TagsPerRole: 50"},
		"there":        {func(in *iam.CreateRoleInput) { in.RoleName = aws.String("apps") }, "EntityAlreadyExists", 409, ""},
		"case":         {func(in *iam.CreateRoleInput) { in.RoleName = aws.String("Apps") }, "EntityAlreadyExists", 409, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := &iam.CreateRoleInput{RoleName: aws.String("new"), AssumeRolePolicyDocument: aws.String(podTrust)}
			row.change(in)
			_, err := e.iam().CreateRole(t.Context(), in)
			wantRefused(t, err, row.code, row.status, row.part)
		})
	}
	e.SetRolesQuota(1)
	_, err := e.iam().CreateRole(
		t.Context(), &iam.CreateRoleInput{RoleName: aws.String("new"), AssumeRolePolicyDocument: aws.String(podTrust)})
	wantRefused(t, err, "LimitExceeded", 409, "RolesPerAccount: 1")
	out, err := e.iam().GetAccountSummary(t.Context(), &iam.GetAccountSummaryInput{})
	must(t, err)
	if out.SummaryMap["Roles"] != 1 || out.SummaryMap["RolesQuota"] != 1 {
		t.Errorf("summary %v", out.SummaryMap)
	}
}

// trustQuota is IAM's quota of characters in a trust policy.
const trustQuota = 2048

func TestAChangeOfARoleIsRefused(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	api, name := e.iam(), aws.String("apps")
	inline := func(policy string, size int) error {
		document := statements(`"Action":"s3:*","Resource":"arn:aws:s3:::` + strings.Repeat("x", size) + `"` +
			strings.Repeat(" ", 5000))
		_, err := api.PutRolePolicy(
			t.Context(), &iam.PutRolePolicyInput{RoleName: name, PolicyName: &policy, PolicyDocument: &document})
		return err
	}
	must(t, inline("one", 6000))
	wantRefused(t, inline("two", 5000), "LimitExceeded", 409, "Maximum policy size of 10240 bytes exceeded for "+
		"role apps")
	must(t, inline("one", 9000))
	wantRefused(t, inline("a b", 1), "ValidationError", 400, "policyName")
	_, err := api.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: name, PolicyName: aws.String("x"),
		PolicyDocument: aws.String(`{"Version":"2012-10-17"}`),
	})
	wantCode(t, err, "MalformedPolicyDocument")
	_, err = api.UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{
		RoleName: name, PolicyDocument: aws.String(statements(`"Action":"sts:AssumeRole"`)),
	})
	wantCode(t, err, "MalformedPolicyDocument")
	_, err = api.PutRolePermissionsBoundary(t.Context(), &iam.PutRolePermissionsBoundaryInput{
		RoleName: name, PermissionsBoundary: aws.String("arn:aws:iam::" + e.account + ":policy/absent"),
	})
	wantRefused(t, err, "NoSuchEntity", 404, "not attachable")
	_, err = api.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: name})
	wantRefused(t, err, "DeleteConflict", 409, "must delete policies first")
	_, err = api.TagRole(t.Context(), &iam.TagRoleInput{RoleName: name, Tags: tags("Team", "a")})
	must(t, err)
	_, err = api.TagRole(t.Context(), &iam.TagRoleInput{RoleName: name, Tags: tags("team", "b")})
	must(t, err)
	have, err := api.ListRoleTags(t.Context(), &iam.ListRoleTagsInput{RoleName: name})
	must(t, err)
	if len(have.Tags) != 1 || *have.Tags[0].Value != "b" {
		t.Errorf("tags %+v", have.Tags)
	}
	_, err = api.UntagRole(t.Context(), &iam.UntagRoleInput{RoleName: name, TagKeys: []string{"TEAM"}})
	must(t, err)
	_, err = api.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{
		RoleName: name, PolicyName: aws.String("one"),
	})
	must(t, err)
	_, err = api.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: name})
	must(t, err)
}

// TestRolesAreJudged checks that permissions on roles depend on the roles' names, boundaries and tags.
func TestRolesAreJudged(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	boundary, err := e.iam().CreatePolicy(
		t.Context(), &iam.CreatePolicyInput{PolicyName: aws.String("bound"), PolicyDocument: aws.String(everything)})
	must(t, err)
	bound := *boundary.Policy.Arn
	roles := "arn:aws:iam::" + e.account + ":role/portico/*"
	bounded := `"Action":["iam:CreateRole","iam:PutRolePolicy","iam:DeleteRolePolicy","iam:PutRolePermissionsBoundary"],"Resource":"` + roles +
		`","Condition":{"StringEquals":{"iam:PermissionsBoundary":"` + bound + `"}}`
	tagging := `"Action":"iam:TagRole","Resource":"` + roles + `","Condition":{"StringEquals":{"aws:RequestTag/team":"a"},"ForAllValues:StringEquals":{"aws:TagKeys":["team"]}}`
	own := `"Action":["iam:DeleteRole","iam:UpdateAssumeRolePolicy","iam:UntagRole"],"Resource":"` + roles + `","Condition":{"StringEquals":{"iam:ResourceTag/team":"a"}}`
	read := `"Action":["iam:GetRole","iam:ListRoleTags","iam:ListRolePolicies","iam:GetRolePolicy"],"Resource":"` +
		roles + `"`
	summary := `"Action":"iam:GetAccountSummary","Resource":"*"`
	create := &iam.CreateRoleInput{
		Path: aws.String("/portico/"), RoleName: aws.String("base"), AssumeRolePolicyDocument: aws.String(podTrust),
		PermissionsBoundary: &bound, Tags: tags("team", "a"),
	}
	unbounded := *create
	unbounded.PermissionsBoundary = nil
	api := iam.NewFromConfig(e.operatorOf(t, statements(bounded, tagging, own, read, summary)))
	_, err = iam.NewFromConfig(e.operatorOf(t, statements(bounded))).CreateRole(t.Context(), create)
	wantDenied(t, err, "AccessDenied", "iam:TagRole on resource: arn:aws:iam::"+e.account+":role/portico/base")
	_, err = api.CreateRole(t.Context(), &unbounded)
	wantDenied(t, err, "AccessDenied", "iam:CreateRole")
	_, err = api.CreateRole(t.Context(), create)
	must(t, err)
	put := func(role string) error {
		_, err := api.PutRolePolicy(
			t.Context(), &iam.PutRolePolicyInput{
				RoleName: &role, PolicyName: aws.String("apps"),
				PolicyDocument: aws.String(everything),
			})
		return err
	}
	must(t, put("base"))
	wantDenied(t, put("apps"), "AccessDenied", "iam:PutRolePolicy on resource: "+e.role) // it has no boundary
	_, err = api.PutRolePermissionsBoundary(t.Context(), &iam.PutRolePermissionsBoundaryInput{
		RoleName: aws.String("apps"), PermissionsBoundary: aws.String(bound + "x"),
	})
	wantDenied(t, err, "AccessDenied", "iam:PutRolePermissionsBoundary")
	_, err = api.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: aws.String("apps")})
	wantDenied(t, err, "AccessDenied", "iam:DeleteRole")
	_, err = api.TagRole(t.Context(), &iam.TagRoleInput{RoleName: aws.String("apps"), Tags: tags("team", "b")})
	wantDenied(t, err, "AccessDenied", "iam:TagRole")
	name := aws.String("base")
	_, readErr := api.GetRole(t.Context(), &iam.GetRoleInput{RoleName: name})
	_, tagsErr := api.ListRoleTags(t.Context(), &iam.ListRoleTagsInput{RoleName: name})
	_, listErr := api.ListRolePolicies(t.Context(), &iam.ListRolePoliciesInput{RoleName: name})
	_, policyErr := api.GetRolePolicy(
		t.Context(), &iam.GetRolePolicyInput{RoleName: name, PolicyName: aws.String("apps")})
	_, trustErr := api.UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{
		RoleName: name, PolicyDocument: aws.String(podTrust),
	})
	_, boundErr := api.PutRolePermissionsBoundary(t.Context(), &iam.PutRolePermissionsBoundaryInput{
		RoleName: name, PermissionsBoundary: &bound,
	})
	_, dropErr := api.DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{
		RoleName: name, PolicyName: aws.String("apps"),
	})
	_, summaryErr := api.GetAccountSummary(t.Context(), &iam.GetAccountSummaryInput{})
	_, goneErr := api.DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: name})
	must(t, errors.Join(readErr, tagsErr, listErr, policyErr, trustErr, boundErr, dropErr, summaryErr, goneErr))
	_, err = api.GetRole(t.Context(), &iam.GetRoleInput{RoleName: name})
	wantDenied(t, err, "AccessDenied", "iam:GetRole") // IAM knows no path of a role that does not exist
}

// TestPoliciesOfRolesLag checks that a changed policy of a role can take effect later, for open sessions too.
func TestPoliciesOfRolesLag(t *testing.T) {
	w, pass := newLaggingWorld(t)
	e := newEKSWorld(t, w)
	bucket := e.bucket(t)
	agent := e.agent(t)
	old := 0
	for i := range 8 {
		e.role = e.boundRole(t, everything, everything)
		account := fmt.Sprintf("sa-%d", i)
		calm := e.Calm()
		_, err := e.api.CreatePodIdentityAssociation(t.Context(), e.creation(inAccount(account)))
		must(t, err)
		calm()
		cfg := e.pod(t, agent, "shop/"+account)
		must(t, put(t.Context(), cfg, bucket))
		name := e.role[strings.LastIndex(e.role, "/")+1:]
		_, err = e.iam().PutRolePolicy(
			t.Context(), &iam.PutRolePolicyInput{
				RoleName: &name, PolicyName: aws.String("apps"),
				PolicyDocument: aws.String(statements(`"Action":"sqs:*","Resource":"*"`)),
			})
		must(t, err)
		if err := put(t.Context(), cfg, bucket); err == nil {
			old++
			pass(10 * time.Second)
		}
		wantDenied(t, put(t.Context(), cfg, bucket), "AccessDenied")
	}
	if old == 0 || old == 8 {
		t.Errorf("of 8 policies %d held late", old)
	}
}

// TestTheLastUseOfARoleIsTold checks that IAM reports when and where a role was last used, whether moto or the proxy
// answered the call.
func TestTheLastUseOfARoleIsTold(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	use := func() *iamtypes.RoleLastUsed {
		out, err := e.iam().GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("apps")})
		must(t, err)
		return out.Role.RoleLastUsed
	}
	if got := use(); got != nil && got.LastUsedDate != nil {
		t.Errorf("at first: %+v", got)
	}
	at := time.Now().Add(-100 * 24 * time.Hour).Truncate(time.Second)
	e.UseRole(e.role, at, "us-east-1")
	if got := use(); got == nil || !aws.ToTime(got.LastUsedDate).Equal(at) || aws.ToString(got.Region) != "us-east-1" {
		t.Errorf("used: %+v", got)
	}
}
