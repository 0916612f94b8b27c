//go:build integration

package mototest_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
)

const issuer = "oidc.eks.eu-west-1.amazonaws.com/id/ABC"

// webToken returns an unsigned token of an issuer.
func webToken(t *testing.T, claims map[string]any) string {
	t.Helper()
	body, err := json.Marshal(claims)
	must(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256"}`)) + "." + encode(body) + "." + encode([]byte("none"))
}

// TestAWebIdentityIsJudged checks that a role that trusts a provider can be assumed with that provider's tokens, for
// the subject and the audience in its trust policy.
func TestAWebIdentityIsJudged(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	_, err := e.iam().CreateOpenIDConnectProvider(t.Context(), &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String("https://" + issuer), ClientIDList: []string{"sts.amazonaws.com", "other"},
	})
	must(t, err)
	role := e.newRole(t, "web",
		`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::`+e.account+
			`:oidc-provider/`+issuer+`"},
		"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"`+issuer+`:sub":"system:serviceaccount:shop:web","`+issuer+`:aud":"sts.amazonaws.com"}}}}`)
	_, err = e.iam().PutRolePolicy(
		t.Context(), &iam.PutRolePolicyInput{
			RoleName: aws.String("web"), PolicyName: aws.String("p"),
			PolicyDocument: aws.String(statements(`"Action":"sqs:*","Resource":"*"`)),
		})
	must(t, err)
	good := map[string]any{
		"iss": "https://" + issuer, "sub": "system:serviceaccount:shop:web",
		"aud": []string{"sts.amazonaws.com"}, "exp": time.Now().Add(time.Hour).Unix(),
	}
	assume := func(key string, value any) (*sts.AssumeRoleWithWebIdentityOutput, error) {
		claims := map[string]any{key: value}
		for k, v := range good {
			if k != key {
				claims[k] = v
			}
		}
		return e.sts("", ireland).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
			RoleArn: &role, RoleSessionName: aws.String("web"), WebIdentityToken: aws.String(webToken(t, claims)),
		})
	}
	for _, row := range []struct {
		claim  string
		value  any
		code   string
		status int
	}{
		{"sub", "system:serviceaccount:shop:other", "AccessDenied", 403},
		{"aud", "other", "AccessDenied", 403},
		{"aud", "unknown", "InvalidIdentityToken", 400},
		{"iss", "https://elsewhere.example.com", "InvalidIdentityToken", 400},
		{"exp", time.Now().Add(-time.Hour).Unix(), "ExpiredTokenException", 400},
		{"https://aws.amazon.com/tags", map[string]any{"principal_tags": map[string]any{"team": []string{"a"}}}, "AccessDenied", 403},
	} {
		_, err := assume(row.claim, row.value)
		t.Log(row.claim, row.value)
		wantCode(t, err, row.code)
		wantStatus(t, err, row.status)
	}
	_, err = e.sts("", ireland).AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &role, RoleSessionName: aws.String("web"), WebIdentityToken: aws.String("none"),
	})
	wantCode(t, err, "InvalidIdentityToken")
	out, err := assume("sub", good["sub"])
	must(t, err)
	k := out.Credentials
	cfg := configWith(e.operator, aws.Credentials{
		AccessKeyID: *k.AccessKeyId, SecretAccessKey: *k.SecretAccessKey,
		SessionToken: *k.SessionToken,
	}, ireland)
	_, err = sqs.NewFromConfig(cfg).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	must(t, err)
	_, err = s3.NewFromConfig(cfg).ListBuckets(t.Context(), &s3.ListBucketsInput{})
	wantDenied(t, err, "AccessDenied", "because no identity-based policy")
}

// TestARoleIsAssumedByWhomItTrusts checks that only principals that an IAM role trusts can assume it, and none after it
// is deleted.
func TestARoleIsAssumedByWhomItTrusts(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	root := "arn:aws:iam::" + e.account + ":root"
	trust := func(principal, rest string) string {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + principal +
			`"},"Action":"sts:AssumeRole"}` + rest + `]}`
	}
	ours := e.newRole(t, "ours",
		trust(
			root,
			`,{"Effect":"Deny","Principal":{"AWS":"*"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:RoleSessionName":"evil"}}}`))
	theirs := e.newRole(t, "theirs", trust("222222222222", ""))
	assume := func(api *sts.Client, role, session string, tagged ...ststypes.Tag) (*sts.AssumeRoleOutput, error) {
		return api.AssumeRole(t.Context(), &sts.AssumeRoleInput{
			RoleArn: &role, RoleSessionName: &session, Tags: tagged,
		})
	}
	mine := e.sts(e.key, ireland)
	out, err := assume(mine, ours, "me")
	must(t, err)
	_, err = assume(mine, ours, "evil")
	wantDenied(t, err, "AccessDenied", "sts:AssumeRole on resource: "+ours)
	_, err = assume(mine, ours, "me", ststypes.Tag{Key: aws.String("team"), Value: aws.String("a")})
	wantDenied(t, err, "AccessDenied")
	_, err = assume(mine, theirs, "me")
	wantDenied(t, err, "AccessDenied")
	_, err = assume(e.sts(keyTwo, ireland), theirs, "me")
	must(t, err)
	_, err = assume(e.sts(keyTwo, ireland), e.role, "me") // the role is for Pods
	wantDenied(t, err, "AccessDenied")
	_, err = assume(sts.NewFromConfig(e.operatorOf(t, statements(`"Action":"s3:*","Resource":"*"`))), ours, "me")
	wantDenied(t, err, "AccessDenied") // the account is trusted, and does not delegate it
	_, err = assume(sts.NewFromConfig(e.operatorOf(t, statements(`"Action":"sts:AssumeRole","Resource":"`+ours+`"`))),
		ours, "me")
	must(t, err)
	k := out.Credentials
	cfg := configWith(e.operator, aws.Credentials{
		AccessKeyID: *k.AccessKeyId, SecretAccessKey: *k.SecretAccessKey,
		SessionToken: *k.SessionToken,
	}, ireland)
	name := aws.String("ours")
	_, err = e.iam().PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName: name, PolicyName: aws.String("p"),
		PolicyDocument: aws.String(everything),
	})
	must(t, err)
	_, err = sqs.NewFromConfig(cfg).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	must(t, err)
	_, err = e.iam().DeleteRolePolicy(t.Context(), &iam.DeleteRolePolicyInput{
		RoleName: name, PolicyName: aws.String("p"),
	})
	must(t, err)
	_, err = e.iam().DeleteRole(t.Context(), &iam.DeleteRoleInput{RoleName: name})
	must(t, err)
	_, err = sqs.NewFromConfig(cfg).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	wantDenied(t, err, "AccessDenied")
	long := statements(`"Action":"s3:*","Resource":"arn:aws:s3:::` + strings.Repeat("x", 2048) + `"`)
	_, err = mine.AssumeRole(
		t.Context(), &sts.AssumeRoleInput{RoleArn: &theirs, RoleSessionName: aws.String("x"), Policy: &long})
	wantCode(t, err, "ValidationError")
}
