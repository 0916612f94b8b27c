//go:build integration

package mototest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/portico-platform/portico/test/awsproxy"
)

// podTrust allows EKS to assume a role for Pods.
const podTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`

const ireland = "eu-west-1"

// eksWorld is an account with a cluster, and a role for Pods.
type eksWorld struct {
	*world

	key, account, cluster, role string
	api                         *eks.Client
}

func newEKSWorld(t *testing.T, w *world) *eksWorld {
	t.Helper()
	e := &eksWorld{world: w, cluster: "main"}
	e.key = newAccount(w)
	n := strings.TrimPrefix(e.key, "AKIANEW")
	e.account = "9" + strings.Repeat("0", 11-len(n)) + n
	w.AddEKSCluster(e.account, ireland, e.cluster)
	e.api = eks.NewFromConfig(config(w.operator, e.key, ireland))
	e.role = e.newRole(t, "apps", podTrust)
	return e
}

func (e *eksWorld) iam() *iam.Client { return iam.NewFromConfig(config(e.operator, e.key, ireland)) }

// newRole creates a role, and makes it visible at once.
func (e *eksWorld) newRole(t *testing.T, name, trust string) (arn string) {
	t.Helper()
	defer e.Calm()()
	out, err := e.iam().CreateRole(
		t.Context(), &iam.CreateRoleInput{
			RoleName: &name, Path: aws.String("/portico/"), AssumeRolePolicyDocument: &trust,
		})
	must(t, err)
	return *out.Role.Arn
}

// creation returns the request that creates an association for the ServiceAccount shop/web.
func (e *eksWorld) creation(
	change ...func(*eks.CreatePodIdentityAssociationInput),
) *eks.CreatePodIdentityAssociationInput {
	in := &eks.CreatePodIdentityAssociationInput{
		ClusterName: &e.cluster, Namespace: aws.String("shop"),
		ServiceAccount: aws.String("web"), RoleArn: &e.role,
	}
	for _, c := range change {
		c(in)
	}
	return in
}

// limited gives a creation a session policy.
func limited(policy string) func(*eks.CreatePodIdentityAssociationInput) {
	return func(in *eks.CreatePodIdentityAssociationInput) {
		in.Policy, in.DisableSessionTags = &policy, aws.Bool(true)
	}
}

func TestAnAssociationIsKept(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	policy := statements(`"Action":"s3:*","Resource":"*"`)
	in := e.creation(limited(policy))
	in.Tags, in.ClientRequestToken = map[string]string{"team": "a"}, aws.String("token")
	made, err := e.api.CreatePodIdentityAssociation(t.Context(), in)
	must(t, err)
	again, err := e.api.CreatePodIdentityAssociation(t.Context(), in)
	must(t, err)
	id := *made.Association.AssociationId
	if *again.Association.AssociationId != id {
		t.Errorf("a repeated creation made %s beside %s", *again.Association.AssociationId, id)
	}
	arn := "arn:aws:eks:eu-west-1:" + e.account + ":podidentityassociation/main/" + id
	if !regexp.MustCompile(`^a-[a-z0-9]{17}$`).MatchString(id) || *made.Association.AssociationArn != arn {
		t.Errorf("%s is %s", id, *made.Association.AssociationArn)
	}
	got, err := e.api.DescribePodIdentityAssociation(t.Context(), &eks.DescribePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: &id,
	})
	must(t, err)
	a := got.Association
	if *a.RoleArn != e.role || *a.Policy != policy {
		t.Errorf("association %+v", a)
	}
	if !*a.DisableSessionTags || a.Tags["team"] != "a" {
		t.Errorf("association %+v", a)
	}
	if *a.Namespace != "shop" || *a.ServiceAccount != "web" {
		t.Errorf("association %+v", a)
	}
	if *a.ClusterName != "main" || time.Since(*a.CreatedAt).Abs() > time.Minute {
		t.Errorf("association %+v", a)
	}
	if a.ModifiedAt == nil || a.TargetRoleArn != nil {
		t.Errorf("association %+v", a)
	}
	if a.ExternalId != nil {
		t.Errorf("association %+v", a)
	}
	out, err := e.api.UpdatePodIdentityAssociation(t.Context(), &eks.UpdatePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: &id, TargetRoleArn: aws.String("arn:aws:iam::123456789012:role/other"),
	})
	must(t, err)
	if out.Association.ExternalId == nil || *out.Association.Policy != policy {
		t.Errorf("changed association %+v", out.Association)
	}
	gone, err := e.api.DeletePodIdentityAssociation(t.Context(), &eks.DeletePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: &id,
	})
	must(t, err)
	if *gone.Association.AssociationId != id {
		t.Errorf("deleted %+v", gone.Association)
	}
	_, err = e.api.DescribePodIdentityAssociation(t.Context(), &eks.DescribePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: &id,
	})
	wantCode(t, err, "ResourceNotFoundException")
	wantStatus(t, err, 404)
	calls := e.Calls(awsproxy.To("eks", "CreatePodIdentityAssociation"))
	if len(calls) != 2 || !calls[0].Write {
		t.Fatalf("journal %+v", calls)
	}
	if !calls[0].Names("shop/web") || calls[0].Account != e.account {
		t.Errorf("journal %+v", calls)
	}
}

func TestAssociationsAreListed(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	for _, namespace := range []string{"one", "two"} {
		for i := range 3 {
			_, err := e.api.CreatePodIdentityAssociation(
				t.Context(), e.creation(func(in *eks.CreatePodIdentityAssociationInput) {
					in.Namespace, in.ServiceAccount = &namespace, aws.String(fmt.Sprintf("sa-%d", i))
				}))
			must(t, err)
		}
	}
	list := func(change func(*eks.ListPodIdentityAssociationsInput)) (n, pages int) {
		in := &eks.ListPodIdentityAssociationsInput{ClusterName: &e.cluster}
		change(in)
		for p := eks.NewListPodIdentityAssociationsPaginator(e.api, in); p.HasMorePages(); pages++ {
			page, err := p.NextPage(t.Context())
			must(t, err)
			n += len(page.Associations)
		}
		return n, pages
	}
	if n, pages := list(func(*eks.ListPodIdentityAssociationsInput) {}); n != 6 || pages != 1 {
		t.Errorf("%d on %d pages", n, pages)
	}
	if n, pages := list(func(in *eks.ListPodIdentityAssociationsInput) { in.MaxResults = aws.Int32(4) }); n != 6 ||
		pages != 2 {
		t.Errorf("%d on %d pages of 4", n, pages)
	}
	if n, _ := list(func(in *eks.ListPodIdentityAssociationsInput) { in.Namespace = aws.String("two") }); n != 3 {
		t.Errorf("%d in a namespace", n)
	}
	if n, _ := list(func(in *eks.ListPodIdentityAssociationsInput) {
		in.Namespace, in.ServiceAccount = aws.String("two"), aws.String("sa-1")
	}); n != 1 {
		t.Errorf("%d of a ServiceAccount", n)
	}
	e.SetPageSize(2)
	if n, pages := list(func(*eks.ListPodIdentityAssociationsInput) {}); n != 6 || pages != 3 {
		t.Errorf("%d on %d small pages", n, pages)
	}
	_, err := e.api.ListPodIdentityAssociations(t.Context(), &eks.ListPodIdentityAssociationsInput{
		ClusterName: &e.cluster, NextToken: aws.String("no token"),
	})
	wantCode(t, err, "InvalidParameterException")
}

func TestAnAssociationIsRefused(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	half := e.newRole(t, "half", strings.Replace(podTrust, `["sts:AssumeRole","sts:TagSession"]`, `"sts:AssumeRole"`,
		1))
	other := e.newRole(t, "other", strings.Replace(podTrust, "pods.eks", "ec2", 1))
	allow := statements(`"Action":"s3:*","Resource":"*"`)
	for name, row := range map[string]struct {
		change func(*eks.CreatePodIdentityAssociationInput)
		code   string
		status int
	}{
		"no cluster":      {func(in *eks.CreatePodIdentityAssociationInput) { in.ClusterName = aws.String("nope") }, "ResourceNotFoundException", 404},
		"policy and tags": {func(in *eks.CreatePodIdentityAssociationInput) { in.Policy = &allow }, "InvalidParameterException", 400},
		"no policy":       {limited("{"), "InvalidParameterException", 400},
		"empty policy":    {limited(`{"Version":"2012-10-17","Statement":[]}`), "InvalidParameterException", 400},
		"long policy":     {limited(statements(`"Action":"s3:*","Resource":"arn:aws:s3:::` + strings.Repeat("x", 2000) + `"`)), "InvalidParameterException", 400},
		"no role":         {func(in *eks.CreatePodIdentityAssociationInput) { in.RoleArn = aws.String(e.role + "x") }, "InvalidParameterException", 400},
		"other path": {func(in *eks.CreatePodIdentityAssociationInput) {
			in.RoleArn = aws.String(strings.Replace(e.role, "portico/", "", 1))
		}, "InvalidParameterException", 400},
		"no ARN": {func(in *eks.CreatePodIdentityAssociationInput) { in.RoleArn = aws.String("apps") }, "InvalidParameterException", 400},
		"role of others": {func(in *eks.CreatePodIdentityAssociationInput) {
			in.RoleArn = aws.String("arn:aws:iam::222222222222:role/apps")
		}, "InvalidParameterException", 400},
		"no TagSession":         {func(in *eks.CreatePodIdentityAssociationInput) { in.RoleArn = &half }, "InvalidParameterException", 400},
		"other service":         {func(in *eks.CreatePodIdentityAssociationInput) { in.RoleArn = &other }, "InvalidParameterException", 400},
		"no namespace":          {func(in *eks.CreatePodIdentityAssociationInput) { in.Namespace = aws.String("A b") }, "InvalidParameterException", 400},
		"reserved tag":          {func(in *eks.CreatePodIdentityAssociationInput) { in.Tags = map[string]string{"aws:x": "y"} }, "InvalidParameterException", 400},
		"target that is no ARN": {func(in *eks.CreatePodIdentityAssociationInput) { in.TargetRoleArn = aws.String("x") }, "InvalidParameterException", 400},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.api.CreatePodIdentityAssociation(t.Context(), e.creation(row.change))
			wantCode(t, err, row.code)
			wantStatus(t, err, row.status)
		})
	}
	_, err := e.api.CreatePodIdentityAssociation(
		t.Context(), e.creation(func(in *eks.CreatePodIdentityAssociationInput) {
			in.ClientRequestToken = aws.String("one")
		}))
	must(t, err)
	_, err = e.api.CreatePodIdentityAssociation(t.Context(), e.creation())
	wantCode(t, err, "ResourceInUseException")
	wantStatus(t, err, 409)
	_, err = e.api.CreatePodIdentityAssociation(
		t.Context(), e.creation(func(in *eks.CreatePodIdentityAssociationInput) {
			in.ClientRequestToken, in.Namespace = aws.String("one"), aws.String("elsewhere")
		}))
	wantCode(t, err, "InvalidParameterException")
	e.SetAssociationQuota(1)
	_, err = e.api.CreatePodIdentityAssociation(
		t.Context(), e.creation(func(in *eks.CreatePodIdentityAssociationInput) { in.Namespace = aws.String("more") }))
	wantCode(t, err, "ResourceLimitExceededException")
}

func TestAChangeOfAnAssociationIsRefused(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	made, err := e.api.CreatePodIdentityAssociation(
		t.Context(), e.creation(limited(statements(`"Action":"s3:*","Resource":"*"`))))
	must(t, err)
	for name, change := range map[string]func(*eks.UpdatePodIdentityAssociationInput){
		"nothing":         func(*eks.UpdatePodIdentityAssociationInput) {},
		"tags again":      func(in *eks.UpdatePodIdentityAssociationInput) { in.DisableSessionTags = aws.Bool(false) },
		"no policy":       func(in *eks.UpdatePodIdentityAssociationInput) { in.Policy = aws.String("x") },
		"role not there":  func(in *eks.UpdatePodIdentityAssociationInput) { in.RoleArn = aws.String(e.role + "x") },
		"role not an ARN": func(in *eks.UpdatePodIdentityAssociationInput) { in.RoleArn = aws.String("") },
	} {
		in := &eks.UpdatePodIdentityAssociationInput{
			ClusterName: &e.cluster, AssociationId: made.Association.AssociationId,
		}
		change(in)
		_, err := e.api.UpdatePodIdentityAssociation(t.Context(), in)
		t.Log(name)
		wantCode(t, err, "InvalidParameterException")
	}
	in := &eks.UpdatePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: made.Association.AssociationId,
		Policy: aws.String(""), DisableSessionTags: aws.Bool(false),
	}
	out, err := e.api.UpdatePodIdentityAssociation(t.Context(), in)
	must(t, err)
	if out.Association.Policy != nil {
		t.Errorf("an empty policy leaves %s", *out.Association.Policy)
	}
	in.AssociationId = aws.String("a-nothere")
	_, err = e.api.UpdatePodIdentityAssociation(t.Context(), in)
	wantCode(t, err, "ResourceNotFoundException")
}

// inAccount sets another ServiceAccount in a creation.
func inAccount(name string) func(*eks.CreatePodIdentityAssociationInput) {
	return func(in *eks.CreatePodIdentityAssociationInput) { in.ServiceAccount = &name }
}
