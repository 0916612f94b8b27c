//go:build integration

package mototest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/portico-platform/portico/test/awsproxy"
)

// operatorOf opens a session of a role in the account, with the policy document.
func (e *eksWorld) operatorOf(t *testing.T, document string) aws.Config {
	t.Helper()
	role := "arn:aws:iam::" + e.account + ":role/" + unique(t)
	t.Cleanup(e.AttachPolicies(role, policies(t, document)))
	out, err := e.sts(e.key, ireland).AssumeRole(
		t.Context(), &sts.AssumeRoleInput{RoleArn: &role, RoleSessionName: aws.String("operator")})
	must(t, err)
	k := out.Credentials
	return configWith(e.operator, aws.Credentials{
		AccessKeyID: *k.AccessKeyId, SecretAccessKey: *k.SecretAccessKey,
		SessionToken: *k.SessionToken,
	}, ireland)
}

// TestAssociationsAreJudged checks that a caller that creates an association needs the permission on the cluster, and
// permission to tag, to read the role and to pass it to EKS.
func TestAssociationsAreJudged(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	target := "arn:aws:iam::" + e.account + ":role/target"
	cluster, associations := "arn:aws:eks:eu-west-1:"+e.account+":cluster/main", "arn:aws:eks:eu-west-1:"+e.account+
		":podidentityassociation/main/*"
	create := `"Action":["eks:CreatePodIdentityAssociation","eks:ListPodIdentityAssociations"],"Resource":"` + cluster +
		`"`
	tagging := `"Action":"eks:TagResource","Resource":"` + associations + `","Condition":{"StringEquals":{"aws:RequestTag/team":"a"},"ForAllValues:StringEquals":{"aws:TagKeys":"team"}}`
	look := `"Action":"iam:GetRole","Resource":"` + e.role + `"`
	pass := func(role string) string {
		return `"Action":"iam:PassRole","Resource":"` + role +
			`","Condition":{"StringEquals":{"iam:PassedToService":"pods.eks.amazonaws.com"}}`
	}
	in := e.creation()
	in.Tags, in.TargetRoleArn = map[string]string{"team": "a"}, &target
	all := []string{create, tagging, look, pass(e.role), pass(target)}
	missing := []string{
		"eks:CreatePodIdentityAssociation on resource: " + cluster, "eks:TagResource on resource: " + associations,
		"iam:GetRole on resource: " + e.role,
		"iam:PassRole on resource: " + e.role, "iam:PassRole on resource: " + target,
	}
	for i, message := range missing {
		without := append(append([]string{}, all[:i]...), all[i+1:]...)
		_, err := eks.NewFromConfig(e.operatorOf(t, statements(without...))).CreatePodIdentityAssociation(
			t.Context(), in)
		wantDenied(t, err, "AccessDeniedException", message, "because no identity-based policy allows")
	}
	wrong := strings.Replace(pass(e.role), "pods.eks", "ec2", 1)
	_, err := eks.NewFromConfig(
		e.operatorOf(t, statements(create, tagging, look, wrong, pass(target)))).CreatePodIdentityAssociation(
		t.Context(), in)
	wantDenied(t, err, "AccessDeniedException", "iam:PassRole")
	on := `"Action":["eks:DescribePodIdentityAssociation","eks:UpdatePodIdentityAssociation","eks:DeletePodIdentityAssociation"],"Resource":"` + associations +
		`","Condition":{"StringEquals":{"aws:ResourceTag/team":"TEAM"}}`
	api := eks.NewFromConfig(e.operatorOf(t, statements(append(all, strings.Replace(on, "TEAM", "a", 1))...)))
	made, err := api.CreatePodIdentityAssociation(t.Context(), in)
	must(t, err)
	update := &eks.UpdatePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: made.Association.AssociationId, DisableSessionTags: aws.Bool(true),
	}
	_, err = api.UpdatePodIdentityAssociation(t.Context(), update)
	must(t, err)
	_, err = eks.NewFromConfig(
		e.operatorOf(t, statements(create, strings.Replace(on, "TEAM", "a", 1)))).UpdatePodIdentityAssociation(
		t.Context(), update)
	wantDenied(t, err, "AccessDeniedException", "iam:GetRole")
	others := eks.NewFromConfig(e.operatorOf(t, statements(append(all, strings.Replace(on, "TEAM", "b", 1))...)))
	_, err = others.UpdatePodIdentityAssociation(t.Context(), update)
	wantDenied(t, err, "AccessDeniedException", "eks:UpdatePodIdentityAssociation on resource: "+
		*made.Association.AssociationArn)
	remove := &eks.DeletePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: made.Association.AssociationId,
	}
	_, err = others.DeletePodIdentityAssociation(t.Context(), remove)
	wantDenied(t, err, "AccessDeniedException", "eks:DeletePodIdentityAssociation")
	_, err = others.ListPodIdentityAssociations(t.Context(), &eks.ListPodIdentityAssociationsInput{
		ClusterName: &e.cluster,
	})
	must(t, err)
	_, err = api.DeletePodIdentityAssociation(t.Context(), remove)
	must(t, err)
	_, err = api.DeletePodIdentityAssociation(t.Context(), remove)
	wantCode(t, err, "ResourceNotFoundException")
	_, err = api.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: &e.cluster})
	wantStatus(t, err, 500)
}

// TestAssociationsAreTagged checks that the permissions to tag an association, and to change its tags, are separate.
func TestAssociationsAreTagged(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	made, err := e.api.CreatePodIdentityAssociation(t.Context(), e.creation())
	must(t, err)
	arn := made.Association.AssociationArn
	api := eks.NewFromConfig(
		e.operatorOf(t, statements(`"Action":"eks:TagResource","Resource":"`+*arn+
			`","Condition":{"StringEquals":{"aws:RequestTag/team":"a"}}`,
			`"Action":["eks:UntagResource","eks:ListTagsForResource"],"Resource":"*","Condition":{"StringEquals":{"aws:ResourceTag/team":"a"}}`)))
	_, err = api.UntagResource(t.Context(), &eks.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"team"}})
	wantDenied(t, err, "AccessDeniedException", "eks:UntagResource on resource: "+*arn)
	_, err = api.TagResource(t.Context(), &eks.TagResourceInput{ResourceArn: arn, Tags: map[string]string{"team": "b"}})
	wantDenied(t, err, "AccessDeniedException", "eks:TagResource")
	_, err = api.TagResource(
		t.Context(), &eks.TagResourceInput{ResourceArn: arn, Tags: map[string]string{"team": "a", "other": "x"}})
	must(t, err)
	_, err = api.UntagResource(t.Context(), &eks.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"other"}})
	must(t, err)
	got, err := api.ListTagsForResource(t.Context(), &eks.ListTagsForResourceInput{ResourceArn: arn})
	must(t, err)
	if len(got.Tags) != 1 || got.Tags["team"] != "a" {
		t.Errorf("tags %v", got.Tags)
	}
	_, err = e.api.TagResource(
		t.Context(), &eks.TagResourceInput{ResourceArn: arn, Tags: map[string]string{"aws:x": "y"}})
	wantCode(t, err, "BadRequestException")
	_, err = e.api.ListTagsForResource(t.Context(), &eks.ListTagsForResourceInput{ResourceArn: aws.String(*arn + "x")})
	wantCode(t, err, "NotFoundException")
}

// TestAssociationsLag checks that EKS does not know a new role at once, and that for a while after an association was
// deleted it refuses a new one for the same ServiceAccount as already existing.
func TestAssociationsLag(t *testing.T) {
	w, pass := newLaggingWorld(t)
	e := newEKSWorld(t, w)
	young, taken := 0, 0
	for range 12 {
		name := unique(t)
		out, err := e.iam().CreateRole(
			t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: aws.String(podTrust)})
		must(t, err)
		in := e.creation(func(in *eks.CreatePodIdentityAssociationInput) {
			in.RoleArn, in.ServiceAccount = out.Role.Arn, &name
		})
		made, err := e.api.CreatePodIdentityAssociation(t.Context(), in)
		if err != nil {
			wantCode(t, err, "InvalidParameterException")
			young++
			pass(10 * time.Second)
			made, err = e.api.CreatePodIdentityAssociation(t.Context(), in)
			must(t, err)
		}
		_, err = e.api.DeletePodIdentityAssociation(t.Context(), &eks.DeletePodIdentityAssociationInput{
			ClusterName: &e.cluster, AssociationId: made.Association.AssociationId,
		})
		must(t, err)
		in.ClientRequestToken = nil
		if _, err = e.api.CreatePodIdentityAssociation(t.Context(), in); err != nil {
			wantCode(t, err, "ResourceInUseException")
			taken++
			pass(10 * time.Second)
			_, err = e.api.CreatePodIdentityAssociation(t.Context(), in)
			must(t, err)
		}
	}
	if young == 0 || young == 12 {
		t.Errorf("of 12 roles %d were not known yet, and %d associations were refused for one that had been deleted",
			young, taken)
	}
	if taken == 0 || taken == 12 {
		t.Errorf("of 12 roles %d were not known yet, and %d associations were refused for one that had been deleted",
			young, taken)
	}
}

// TestFaultsOfEKS checks that calls with injected faults, or with a revoked key, get EKS's errors.
func TestFaultsOfEKS(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	for kind, code := range map[awsproxy.FaultKind]string{
		awsproxy.Throttle: "ThrottlingException", awsproxy.ServerError: "ServerException",
		awsproxy.Denied: "AccessDeniedException",
	} {
		remove := e.Inject(awsproxy.Fault{Kind: kind, Match: awsproxy.To("eks")})
		_, err := e.api.CreatePodIdentityAssociation(t.Context(), e.creation())
		wantCode(t, err, code)
		remove()
	}
	e.RevokeKey(e.key)
	_, err := e.api.CreatePodIdentityAssociation(t.Context(), e.creation())
	wantCode(t, err, "UnrecognizedClientException")
	if calls := e.Calls(awsproxy.To("eks")); calls[len(calls)-1].ErrorCode != "UnrecognizedClientException" {
		t.Errorf("journal %+v", calls[len(calls)-1])
	}
}
