package team

import (
	"os"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// TestTheWorkflowsAreThoseOfTheDocumentation compares what the page of a team has to copy with docs/ci.md.
func TestTheWorkflowsAreThoseOfTheDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	growth := &v1alpha1.Team{}
	growth.Name = "growth"
	for _, c := range workflows(growth, "https://portal.example.com") {
		if !strings.Contains(string(text), "```yaml\n"+c.Text+"```") {
			t.Errorf("docs/ci.md does not have the %s:\n%s", c.Title, c.Text)
		}
	}
}

// TestAWorkflowFollowsItsDeployer checks that the workflow of a deployer runs for what the deployer runs for.
func TestAWorkflowFollowsItsDeployer(t *testing.T) {
	for want, d := range map[string]v1alpha1.TeamDeployer{
		"branches: [release]":           {Name: "d", Branch: "release", Namespaces: []string{"n"}},
		"tags: [v1]":                    {Name: "d", Tag: "v1", Namespaces: []string{"n"}},
		"    environment: production\n": {Name: "d", Environment: "production", Namespaces: []string{"n"}},
	} {
		growth := &v1alpha1.Team{}
		growth.Spec.Deployers = []v1alpha1.TeamDeployer{d}
		if got := workflows(growth, "https://portal.example.com")[0].Text; !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
