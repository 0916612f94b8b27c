package deploy

import (
	"encoding/json"
	"strings"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Facts are what a verified token says about its run. Each has the name of its claim, for refusals.
type Facts struct {
	Repository, RepositoryID, Owner, OwnerID Fact
	Branch, Tag, Environment, Event          Fact
	run                                      deploy.Run
	usual                                    []string // events that need the right to write to the repository
}

// Fact is a claim and its value, "" if the token does not have it.
type Fact struct{ Claim, Value string }

// Events that start a run only for those who can write to the repository, or that the repository's owner has set up.
// Pull requests, also those of pull_request_target, and comments are started by strangers.
var (
	// gitHubEvents are from GitHub's page "Events that trigger workflows".
	gitHubEvents = []string{"push", "workflow_dispatch", "schedule", "release", "deployment", "repository_dispatch"}
	// gitLabEvents are values of pipeline_source, from GitLab's pages "ID token payload" and "Predefined CI/CD
	// variables". parent_pipeline is none of them: a merge request's pipeline can have children, whose tokens do not
	// mention the merge request.
	gitLabEvents = []string{"push", "web", "schedule", "api", "trigger", "pipeline"}
)

// gitHubClaims are from GitHub's page "OpenID Connect reference"; its branch and tag come as ref and ref_type.
var gitHubClaims = v1alpha1.DeployClaims{
	Repository: "repository", RepositoryID: "repository_id", Owner: "repository_owner", OwnerID: "repository_owner_id",
	Environment: "environment", Event: "event_name", Events: gitHubEvents, Workflow: "workflow", Commit: "sha",
	Run: "run_id",
}

// gitLabClaims are from GitLab's page "ID token payload"; its branch and tag come as ref and ref_type.
var gitLabClaims = v1alpha1.DeployClaims{
	Repository: "project_path", RepositoryID: "project_id", Owner: "namespace_path", OwnerID: "namespace_id",
	Environment: "environment", Event: "pipeline_source", Events: gitLabEvents, Workflow: "ci_config_ref_uri",
	Commit: "sha", Run: "pipeline_id",
}

// factsOf reads the claims of a token as the issuer names them.
func factsOf(issuer *v1alpha1.DeployIssuer, claims identity.ClaimSet) Facts {
	names := issuer.Claims
	switch issuer.Type {
	case v1alpha1.IssuerGitHub:
		names = &gitHubClaims
	case v1alpha1.IssuerGitLab:
		names = &gitLabClaims
	case v1alpha1.IssuerOIDC:
	}
	if names == nil { // admission refuses such an issuer
		names = &v1alpha1.DeployClaims{}
	}
	at := func(name v1alpha1.ClaimName) Fact { return Fact{string(name), textAt(claims, string(name))} }
	f := Facts{
		Repository: at(names.Repository), RepositoryID: at(names.RepositoryID),
		Owner: at(names.Owner), OwnerID: at(names.OwnerID),
		Branch: at(names.Branch), Tag: at(names.Tag), Environment: at(names.Environment), Event: at(names.Event),
		usual: names.Events,
	}
	switch issuer.Type {
	case v1alpha1.IssuerGitHub:
		f.Branch, f.Tag = refOf(claims, "refs/heads/", "refs/tags/")
	case v1alpha1.IssuerGitLab:
		f.Branch, f.Tag = refOf(claims, "", "")
	case v1alpha1.IssuerOIDC:
	}
	f.run = deploy.Run{
		Repository: f.Repository.Value, Workflow: at(names.Workflow).Value, Commit: at(names.Commit).Value,
		Ref: f.Branch.Value + f.Tag.Value, ID: at(names.Run).Value,
	}.Bounded()
	return f
}

// refOf returns the branch and the tag of a run, whose ref begins with a prefix at GitHub and with none at GitLab. Of a
// pull request at GitHub it names a merge, such as refs/pull/7/merge, which is neither.
func refOf(claims identity.ClaimSet, heads, tags string) (branch, tag Fact) {
	ref := textAt(claims, "ref")
	branch, tag = Fact{Claim: "ref"}, Fact{Claim: "ref"}
	switch kind := textAt(claims, "ref_type"); {
	case kind == "branch" && strings.HasPrefix(ref, heads):
		branch.Value = ref[len(heads):]
	case kind == "tag" && strings.HasPrefix(ref, tags):
		tag.Value = ref[len(tags):]
	}
	return branch, tag
}

// textAt returns a claim as text: a string, or a number as it is written. Some issuers send IDs as numbers.
func textAt(claims identity.ClaimSet, name string) string {
	if name == "" {
		return ""
	}
	raw, ok := claims.At(name)
	if !ok {
		return ""
	}
	var number json.Number
	if raw[0] != '"' && json.Unmarshal(raw, &number) == nil {
		return number.String()
	}
	var text string
	_ = json.Unmarshal(raw, &text) // anything else is no text
	return text
}
