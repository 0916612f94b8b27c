//go:build integration

package mototest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/portico-platform/portico/test/awsproxy"
)

// agent serves the endpoint of the Pod Identity Agent; a token is the name of its Pod's ServiceAccount.
func (e *eksWorld) agent(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(e.PodIdentity(func(_ context.Context, token string) (awsproxy.Pod, error) {
		namespace, rest, found := strings.Cut(token, "/")
		if !found {
			return awsproxy.Pod{}, fmt.Errorf("%w: %s", awsproxy.ErrPodToken, token)
		}
		account, _, _ := strings.Cut(rest, "#")
		cluster := awsproxy.EKSCluster{Account: e.account, Region: ireland, Name: e.cluster}
		return awsproxy.Pod{
			Cluster: cluster, Namespace: namespace, ServiceAccount: account, Name: account + "-0",
			UID: "4711",
		}, nil
	}))
	t.Cleanup(server.Close)
	return server
}

// pod returns the settings that an SDK finds in a Pod, whose calls go to the endpoint for applications.
func (e *eksWorld) pod(t *testing.T, agent *httptest.Server, token string) aws.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte(token), 0o600))
	for name, value := range map[string]string{
		"AWS_CONTAINER_CREDENTIALS_FULL_URI":     agent.URL + "/v1/credentials",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file,
		"AWS_ACCESS_KEY_ID":                      "", "AWS_CA_BUNDLE": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": file +
			"-none", "AWS_SHARED_CREDENTIALS_FILE": file + "-none", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	server := httptest.NewServer(e.Workload())
	t.Cleanup(server.Close)
	cfg, err := sdk.LoadDefaultConfig(t.Context(), sdk.WithRegion(ireland), sdk.WithRetryMaxAttempts(2),
		sdk.WithBaseEndpoint(server.URL), sdk.WithHTTPClient(server.Client()))
	must(t, err)
	return cfg
}

// associate creates an association for shop/web with a session policy, effective at once.
func (e *eksWorld) associate(t *testing.T, policy string, change ...func(*eks.CreatePodIdentityAssociationInput)) (
	id string,
) {
	t.Helper()
	defer e.Calm()()
	out, err := e.api.CreatePodIdentityAssociation(t.Context(), e.creation(append(change, limited(policy))...))
	must(t, err)
	return *out.Association.AssociationId
}

// boundRole creates a role for Pods with a policy document and a boundary.
func (e *eksWorld) boundRole(t *testing.T, document, boundary string) (arn string) {
	t.Helper()
	defer e.Calm()()
	name := unique(t)
	policy, err := e.iam().CreatePolicy(
		t.Context(), &iam.CreatePolicyInput{PolicyName: &name, PolicyDocument: &boundary})
	must(t, err)
	out, err := e.iam().CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: &name, Path: aws.String("/portico/shop/"), AssumeRolePolicyDocument: aws.String(podTrust),
		PermissionsBoundary: policy.Policy.Arn,
	})
	must(t, err)
	_, err = e.iam().PutRolePolicy(
		t.Context(), &iam.PutRolePolicyInput{
			RoleName: &name, PolicyName: aws.String("apps"), PolicyDocument: &document,
		})
	must(t, err)
	return *out.Role.Arn
}

func put(ctx context.Context, cfg aws.Config, bucket string) error {
	_, err := bucketsOf(cfg).PutObject(
		ctx, &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("key"), Body: strings.NewReader("text")})
	return err
}

func (e *eksWorld) bucket(t *testing.T) string {
	t.Helper()
	return create(t, e.s3(e.key, ireland), ireland)
}

func objects(bucket string) string {
	return `"Action":["s3:GetObject","s3:PutObject"],"Resource":"arn:aws:s3:::` + bucket + `/*"`
}

// TestAPodDoesWhatItsAssociationAllows checks that an application can do only what the role, its boundary and the
// association's policy all allow.
func TestAPodDoesWhatItsAssociationAllows(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	ours, second, theirs := e.bucket(t), e.bucket(t), e.bucket(t)
	e.role = e.boundRole(t, statements(objects(ours), objects(second), `"Action":"sqs:*","Resource":"*"`),
		statements(`"Action":"s3:*","Resource":"*"`))
	e.associate(t, statements(objects(ours), objects(theirs),
		`"Action":["s3:DeleteObject","sqs:ListQueues"],"Resource":"*"`))
	cfg := e.pod(t, e.agent(t), "shop/web")
	must(t, put(t.Context(), cfg, ours))
	wantDenied(t, put(t.Context(), cfg, second), "AccessDenied",
		"because no session policy allows the s3:PutObject action", ":assumed-role/")
	wantDenied(t, put(t.Context(), cfg, theirs), "AccessDenied", "because no identity-based policy allows the "+
		"s3:PutObject action")
	_, err := bucketsOf(cfg).DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &ours, Key: aws.String("key")})
	wantDenied(t, err, "AccessDenied", "because no identity-based policy allows the s3:DeleteObject action")
	_, err = sqs.NewFromConfig(cfg).ListQueues(t.Context(), &sqs.ListQueuesInput{})
	wantDenied(t, err, "AccessDenied", "because no permissions boundary allows the sqs:listqueues action")
	if calls := e.Calls(awsproxy.By(awsproxy.Workload)); len(calls) != 5 || calls[0].Account != e.account {
		t.Errorf("journal %+v", calls)
	}
	who, err := sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
	must(t, err)
	if !strings.Contains(*who.Arn, ":assumed-role/"+e.role[strings.LastIndex(e.role, "/")+1:]+"/eks-main-web-0-") {
		t.Errorf("the session is %s", *who.Arn)
	}
}

// TestADenyWinsWhereverItIs checks that an explicit deny in any of the policies wins.
func TestADenyWinsWhereverItIs(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	deny := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"s3:PutObject","Resource":"*"}]}`
	bucket := e.bucket(t)
	agent := e.agent(t)
	for i, row := range []struct{ role, boundary, session, words string }{
		{deny, everything, everything, "with an explicit deny in an identity-based policy"},
		{everything, deny, everything, "with an explicit deny in a permissions boundary"},
		{everything, everything, deny, "with an explicit deny in a session policy"},
	} {
		e.role = e.boundRole(t, row.role, row.boundary)
		name := fmt.Sprintf("sa-%d", i)
		e.associate(t, row.session, func(in *eks.CreatePodIdentityAssociationInput) { in.ServiceAccount = &name })
		wantDenied(t, put(t.Context(), e.pod(t, agent, "shop/"+name), bucket), "AccessDenied", row.words)
	}
}

// TestAChangedAssociationHoldsForNewCredentials checks that a changed association applies only to new credentials,
// which the agent requests late for the same Pod.
func TestAChangedAssociationHoldsForNewCredentials(t *testing.T) {
	w, pass := newLaggingWorld(t)
	e := newEKSWorld(t, w)
	one, two := e.bucket(t), e.bucket(t)
	e.role = e.boundRole(t, everything, everything)
	id := e.associate(t, statements(objects(one)))
	agent := e.agent(t)
	must(t, put(t.Context(), e.pod(t, agent, "shop/web"), one))
	calm := e.Calm()
	policy := statements(objects(two))
	_, err := e.api.UpdatePodIdentityAssociation(t.Context(), &eks.UpdatePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: &id, Policy: &policy,
	})
	must(t, err)
	must(t, put(t.Context(), e.pod(t, agent, "shop/web"), one)) // the agent has cached them
	must(t, put(t.Context(), e.pod(t, agent, "shop/web#other"), two))
	wantDenied(t, put(t.Context(), e.pod(t, agent, "shop/web#other"), one), "AccessDenied")
	pass(3 * time.Hour)
	must(t, put(t.Context(), e.pod(t, agent, "shop/web"), two))
	kept := e.pod(t, agent, "shop/web")
	// the first attempt learns the server's time
	later := eks.NewFromConfig(config(e.operator, e.key, ireland), func(o *eks.Options) { o.RetryMaxAttempts = 2 })
	_, err = later.DeletePodIdentityAssociation(t.Context(), &eks.DeletePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: &id,
	})
	must(t, err)
	calm()
	must(t, put(t.Context(), kept, two))
	if status, text := e.ask(t, agent, "shop/web#new"); status != http.StatusNotFound ||
		!strings.Contains(text, "(ResourceNotFoundException)") {
		t.Errorf("without an association %d: %s", status, text)
	}
	pass(6 * time.Hour)
	wantCode(t, put(t.Context(), kept, two), "ExpiredToken")
}

// ask calls the agent as an SDK does.
func (e *eksWorld) ask(t *testing.T, agent *httptest.Server, token string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, agent.URL+"/v1/credentials", http.NoBody)
	must(t, err)
	r.Header.Set("Authorization", token)
	answer, err := agent.Client().Do(r)
	must(t, err)
	defer answer.Body.Close()
	var b strings.Builder
	must(t, answer.Write(&b))
	return answer.StatusCode, b.String()
}

// TestAnAssociationHoldsAfterAWhile checks that new and changed associations take effect after a while.
func TestAnAssociationHoldsAfterAWhile(t *testing.T) {
	w, pass := newLaggingWorld(t)
	e := newEKSWorld(t, w)
	agent := e.agent(t)
	late := 0
	for i := range 12 {
		name := fmt.Sprintf("sa-%d", i)
		_, err := e.api.CreatePodIdentityAssociation(
			t.Context(), e.creation(func(in *eks.CreatePodIdentityAssociationInput) { in.ServiceAccount = &name }))
		must(t, err)
		if status, _ := e.ask(t, agent, "shop/"+name); status == http.StatusNotFound {
			late++
		}
	}
	if late == 0 || late == 12 {
		t.Errorf("%d of 12 associations hold late", late)
	}
	pass(10 * time.Second)
	for i := range 12 {
		if status, text := e.ask(t, agent, fmt.Sprintf("shop/sa-%d", i)); status != http.StatusOK {
			t.Errorf("later %d: %s", status, text)
		}
	}
}

// TestTheAgentRefuses checks that the agent reports why there are no credentials.
func TestTheAgentRefuses(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	agent := e.agent(t)
	conditioned := strings.Replace(podTrust, `"Action"`,
		`"Condition":{"StringEquals":{"aws:RequestTag/kubernetes-namespace":"shop"}},"Action"`, 1)
	e.role = e.newRole(t, "conditioned", conditioned)
	for _, namespace := range []string{"shop", "other"} {
		_, err := e.api.CreatePodIdentityAssociation(
			t.Context(), e.creation(func(in *eks.CreatePodIdentityAssociationInput) { in.Namespace = &namespace }))
		must(t, err)
	}
	for token, want := range map[string]struct {
		status int
		text   string
	}{
		"":            {400, "Service account token cannot be empty"},
		"nobody":      {400, "(InvalidTokenException)"},
		"shop/absent": {404, "(ResourceNotFoundException)"},
		"other/web":   {400, "(AccessDeniedException): Unauthorized Exception! EKS does not have permissions to assume the associated role."},
		"shop/web":    {200, `"AccountId":"` + e.account + `"`},
	} {
		if status, text := e.ask(t, agent, token); status != want.status || !strings.Contains(text, want.text) {
			t.Errorf("%q: %d %s", token, status, text)
		}
	}
}

// TestSessionsOfPodsAreTagged checks that sessions have the six tags of Pod Identity, unless the association disables
// them.
func TestSessionsOfPodsAreTagged(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	bucket := e.bucket(t)
	only := `"Action":"s3:PutObject","Resource":"*","Condition":{"StringEquals":{"aws:PrincipalTag/eks-cluster-arn":"arn:aws:eks:eu-west-1:` + e.account + `:cluster/main",
		"aws:PrincipalTag/eks-cluster-name":"main","aws:PrincipalTag/kubernetes-namespace":"shop","aws:PrincipalTag/kubernetes-service-account":"web",
		"aws:PrincipalTag/kubernetes-pod-name":"web-0","aws:PrincipalTag/kubernetes-pod-uid":"4711"}}`
	e.role = e.boundRole(t, statements(only), everything)
	made, err := e.api.CreatePodIdentityAssociation(t.Context(), e.creation())
	must(t, err)
	agent := e.agent(t)
	must(t, put(t.Context(), e.pod(t, agent, "shop/web"), bucket))
	_, err = e.api.UpdatePodIdentityAssociation(t.Context(), &eks.UpdatePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: made.Association.AssociationId, DisableSessionTags: aws.Bool(true),
	})
	must(t, err)
	wantDenied(t, put(t.Context(), e.pod(t, agent, "shop/web"), bucket), "AccessDenied",
		"because no identity-based policy")
}

// TestATargetRoleIsAssumed checks that an association with a target role returns that role's credentials, and that its
// policy limits only them.
func TestATargetRoleIsAssumed(t *testing.T) {
	e := newEKSWorld(t, newWorld(t))
	bucket, other := e.bucket(t), e.bucket(t)
	e.role = e.boundRole(t, statements(`"Action":["sts:AssumeRole","sts:TagSession"],"Resource":"*"`), everything)
	trust := func(id string) string {
		return `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"` + e.role +
			`"},"Action":["sts:AssumeRole","sts:TagSession"],"Condition":{"StringEquals":{"sts:ExternalId":"` + id +
			`"}}}}`
	}
	target := e.newRole(t, "target", trust("x"))
	_, err := e.iam().PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{
		RoleName:   aws.String("target"),
		PolicyName: aws.String("p"), PolicyDocument: aws.String(everything),
	})
	must(t, err)
	id := e.associate(t, statements(objects(bucket)), func(in *eks.CreatePodIdentityAssociationInput) {
		in.TargetRoleArn = &target
	})
	agent := e.agent(t)
	if status, text := e.ask(t, agent, "shop/web"); status != 400 || !strings.Contains(text, "AccessDeniedException") {
		t.Errorf("with another external ID: %d %s", status, text)
	}
	got, err := e.api.DescribePodIdentityAssociation(t.Context(), &eks.DescribePodIdentityAssociationInput{
		ClusterName: &e.cluster, AssociationId: &id,
	})
	must(t, err)
	_, err = e.iam().UpdateAssumeRolePolicy(t.Context(), &iam.UpdateAssumeRolePolicyInput{
		RoleName: aws.String("target"), PolicyDocument: aws.String(trust(*got.Association.ExternalId)),
	})
	must(t, err)
	cfg := e.pod(t, agent, "shop/web")
	must(t, put(t.Context(), cfg, bucket))
	wantDenied(t, put(t.Context(), cfg, other), "AccessDenied", "/target/", "because no session policy")
	k, err := cfg.Credentials.Retrieve(t.Context())
	must(t, err)
	if left := time.Until(k.Expires); left > time.Hour {
		t.Errorf("the credentials of a target role last %s", left)
	}
}
