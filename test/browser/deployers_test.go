//go:build browser

package browser

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/tiers"
)

// TestAnOwnerAddsADeployer adds a deployer, which the DeployPolicy refuses first, looks at the workflow to copy, and
// removes the deployer again.
func TestAnOwnerAddsADeployer(t *testing.T) {
	tiers.Long(t)
	c := platform(t)
	policy := &v1alpha1.DeployPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DeployPolicyName},
		Spec: v1alpha1.DeployPolicySpec{Issuers: []v1alpha1.DeployIssuer{{
			Name: "github", Type: v1alpha1.IssuerGitHub, URL: "https://127.0.0.1:9",
			Owners: []v1alpha1.DeployOwner{{ID: "65", Name: "acme"}},
		}}},
	}
	if err := c.Create(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.Background(), policy) })
	admin := open(t)
	admin.signIn("platform-admin", "payments")
	admin.goTo("/teams/_platform/deploypolicies/portico")
	admin.await(`#tabs`, "Status details")
	admin.every("detail-deploypolicies")
	x := &hand{tab: open(t)}
	x.signIn("payments-owner", "payments")
	x.goTo("/team/payments")
	x.await(`#team-deployers`, "No pipeline deploys for the team yet")
	x.press(`#add-deployer-fold summary`)
	fill := func(ownerID string) {
		for name, value := range map[string]string{
			"name": "release", "issuer": "github", "repository": "acme/shop", "repositoryID": "74", "ownerID": ownerID,
			"ref": "main",
		} {
			x.fill(`#deployer-`+name, value)
		}
		x.press(`#add-deployer button[value="add"]`)
	}
	fill("66")
	x.await(`#deployer-error`, "does not let this team name repositories of acme (ownerID 66)")
	x.every("deployer-refused")
	fill("65")
	x.await(`#deployer-release`, "acme/shop, branch main, at github")
	x.await(`#deployer-release`, "Never")
	x.press(`#workflow-github-fold summary`)
	x.await(`#workflow-github`, "--ci --deployer payments/release")
	x.every("deployers")
	x.press(`#deployer-release button[value="remove"]`)
	x.await(`main`, "those that run lose their rights within a minute")
	x.every("deployer-removed")
	x.press(`form button.danger[value="remove"]`)
	x.await(`#team-deployers`, "No pipeline deploys for the team yet")
}
