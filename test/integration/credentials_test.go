//go:build integration

package integration

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// Resources of a provider with assumeRoleARN are in the role's account, and each namespace has a session of its own.
func TestAssumedRoleLeadsToItsAccount(t *testing.T) {
	calm(t)
	c := withOperator(t)
	p := account(t, c, "230000000001")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.AccountID = "230000000003"
	})
	reason(t, c, p, "AccountMismatch")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.AssumeRoleChain = []v1alpha1.AssumedRole{
			{RoleARN: "arn:aws:iam::230000000002:role/hop", ExternalID: "hop-id"},
		}
		p.Spec.AssumeRoleARN, p.Spec.ExternalID = "arn:aws:iam::230000000003:role/portico", "portico-id"
	})
	ready(t, c, p)
	if p.Status.AccountID != "230000000003" {
		t.Fatalf("account %s", p.Status.AccountID)
	}
	m := world.Proxy.Mark()
	first, second := bucketOf(team(t, c), "assumed"), bucketOf(team(t, c), "assumed")
	for _, b := range []*v1alpha1.S3Bucket{first, second} {
		b.Spec.ProviderRef.Name = p.Name
		createReady(t, c, b)
		if b.Status.AccountID != "230000000003" {
			t.Errorf("bucket in account %s", b.Status.AccountID)
		}
	}
	roles := world.Proxy.CallsSince(m, awsproxy.To("sts", "AssumeRole"))
	if len(roles) != 4 {
		t.Errorf("%d roles assumed for two namespaces over a chain of two, want 4", len(roles))
	}
}

// The token goes to AWS's STS, regardless of the provider's endpoint; the operator's environment can set the endpoint
// of STS.
func TestWebIdentity(t *testing.T) {
	calm(t)
	c := admin(t)
	t.Setenv("AWS_ENDPOINT_URL_STS", world.AWSEndpoint)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("header.payload.signature"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := startOperator(t, operatorOptions{})
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "irsa"}, Spec: v1alpha1.AWSProviderSpec{
		Region: stack.Region, Endpoint: sampleEndpoint(t, c), RoleARN: "arn:aws:iam::230000000004:role/irsa",
	}}
	create(t, c, p)
	reason(t, c, p, "NoWebIdentity")
	stop()
	startOperator(t, operatorOptions{tokenFile: token, providerResync: 100 * time.Millisecond})
	ready(t, c, p)
	if p.Status.AccountID != "230000000004" {
		t.Errorf("account %s", p.Status.AccountID)
	}
	version, m := p.ResourceVersion, world.Proxy.Mark()
	await(t, "more checks", func() (bool, string) {
		return len(world.Proxy.CallsSince(m, awsproxy.To("sts", "GetCallerIdentity"))) > 5, "waiting"
	})
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil || p.ResourceVersion != version {
		t.Errorf("every check writes: %+v, %v", p.Status, err)
	}
	var calls []string
	for _, call := range world.Proxy.Calls(awsproxy.To("sts")) {
		calls = append(calls, call.Operation)
	}
	if !slices.Contains(calls, "AssumeRoleWithWebIdentity") {
		t.Errorf("calls %v", calls)
	}
	gone(t, c, p)
}
