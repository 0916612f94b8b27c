//go:build integration

package integration

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// becomes waits until the portal answers a list of buckets with a status.
func (p *pipelines) becomes(token, why string, status int) {
	p.t.Helper()
	await(p.t, why, func() (bool, string) {
		got := p.portal.call(p.t, token, "GET", "/namespaces/"+p.team.Name+"/s3buckets", nil)
		return got.status == status, got.raw
	})
}

// TestTokensOfDeployersEndWithTheirReasons changes what a token was issued for: what the token of the CI job must say,
// the team, which is suspended, and the DeployPolicy, which goes.
func TestTokensOfDeployersEndWithTheirReasons(t *testing.T) {
	p := startPipelines(t)
	first := p.trade(p.issuer.GitHub(p.portal.url)).Token
	p.becomes(first, "the rights of the deployer", http.StatusOK)
	edit(t, p.Client, p.team, func(x *v1alpha1.Team) { x.Spec.Deployers[0].Events = []string{"push", "schedule"} })
	p.becomes(first, "the end of a token of before", http.StatusUnauthorized)

	second := p.trade(p.issuer.GitHub(p.portal.url)).Token
	p.becomes(second, "the rights of the new account", http.StatusOK)
	edit(t, p.Client, p.team, func(x *v1alpha1.Team) { x.Spec.Suspended = true })
	body := bucketBody("no", "")
	await(t, "the team to be suspended", func() (bool, string) {
		got := p.portal.call(t, second, "POST", "/namespaces/"+p.team.Name+"/s3buckets?dryRun=All", body)
		return got.status == http.StatusForbidden, got.raw
	})
	p.becomes(second, "to look", http.StatusOK)

	if err := p.Delete(t.Context(), &v1alpha1.DeployPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DeployPolicyName},
	}); err != nil {
		t.Fatal(err)
	}
	p.becomes(second, "the end of a token without a DeployPolicy", http.StatusUnauthorized)
}

// TestATokenOfAJobIsExchangedOnce exchanges one token many times at the same moment.
func TestATokenOfAJobIsExchangedOnce(t *testing.T) {
	p := startPipelines(t)
	token := p.issuer.Sign(p.issuer.GitHub(p.portal.url))
	var done atomic.Int64
	var refused sync.Map
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			got := p.exchangeNow(token)
			if got.status == http.StatusOK {
				done.Add(1)
			} else {
				refused.Store(fmt.Sprint(got.status, " ", got.Error), got.Description)
			}
		})
	}
	all.Wait()
	if n := done.Load(); n != 1 {
		t.Errorf("exchanged %d times", n)
	}
	refused.Range(func(code, why any) bool {
		if code != "400 invalid_request" {
			t.Errorf("%v: %v", code, why)
		}
		return true
	})
}
