package team

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/web/views"
)

// addDeployers adds the deployers, and what is needed to add one.
func (p *Pages) addDeployers(t *v1alpha1.Team, view *views.OwnerView) {
	for i := range t.Spec.Deployers {
		view.Deployers = append(view.Deployers, p.deployerView(t, &t.Spec.Deployers[i]))
	}
	view.DeployerRoles = []views.Choice{
		{Value: string(v1alpha1.DeployerDeveloper), Label: "Developer: requests, changes and deletes all kinds"},
		{Value: string(v1alpha1.DeployerViewer), Label: "Viewer: looks"},
	}
	for _, k := range p.Cluster.Kinds.Now().Requestable() {
		view.DeployerRoles = append(view.DeployerRoles, views.Choice{
			Value: k.Name, Label: k.Title + " only: requests, changes and deletes this kind",
		})
	}
	view.Workflows = workflows(t, p.portal)
}

func (p *Pages) deployerView(t *v1alpha1.Team, d *v1alpha1.TeamDeployer) views.Deployer {
	v := views.Deployer{
		Name:       d.Name,
		Issuer:     d.Issuer,
		Repository: d.Repository,
		Ref:        deploy.RunsFor(d),
		Rights:     p.rightsOf(d),
		Missing:    true,
	}
	for _, s := range t.Status.Deployers {
		if s.Name != d.Name {
			continue
		}
		v.Missing, v.Run = false, s.LastRun
		if s.LastUsed != nil {
			v.Used = p.Moment(s.LastUsed.Time)
		}
		if s.LastRefused != nil {
			v.Refused, v.Refusal = p.Moment(s.LastRefused.Time), s.LastRefusal
		}
		v.Idle = deploy.Idle(s, p.Now())
	}
	return v
}

// rightsOf returns what a deployer can do, and where.
func (p *Pages) rightsOf(d *v1alpha1.TeamDeployer) string {
	what := string(d.Role)
	if len(d.Kinds) > 0 {
		var titles []string
		for _, name := range d.Kinds {
			if k, ok := p.Cluster.Kinds.Now().ByName(name); ok {
				titles = append(titles, k.Title)
			}
		}
		what = "Changes " + spoken.And(titles)
	}
	return what + " in " + spoken.And(d.Namespaces)
}

// workflows returns what a pipeline has to contain: for the last deployer, which an owner has just added.
func workflows(t *v1alpha1.Team, portal string) []views.Command {
	d := v1alpha1.TeamDeployer{Name: "release", Branch: "main", Namespaces: t.NamespaceNames()}
	if n := len(t.Spec.Deployers); n > 0 {
		d = t.Spec.Deployers[n-1]
	}
	run := []string{
		"portico login " + portal + " --ci --deployer " + t.Name + "/" + d.Name,
		"portico apply -f platform/ -n " + d.Namespaces[0] + " --wait --timeout 10m",
	}
	return []views.Command{
		{ID: "workflow-github", Title: "Workflow for GitHub Actions, for " + d.Name, Text: gitHubWorkflow(&d, run)},
		{ID: "workflow-gitlab", Title: "Job for GitLab CI, for " + d.Name, Text: gitLabJob(&d, portal, run)},
	}
}

// gitHubWorkflow returns a workflow; docs/ci.md has the same.
func gitHubWorkflow(d *v1alpha1.TeamDeployer, run []string) string {
	on, environment := "  push:\n    branches: ["+cmp.Or(d.Branch, "main")+"]\n", ""
	if d.Tag != "" {
		on = "  push:\n    tags: [" + d.Tag + "]\n"
	}
	if d.Environment != "" {
		environment = "    environment: " + d.Environment + "\n"
	}
	return "on:\n" + on + `permissions:
  contents: read
  id-token: write # the token of the job, which Portico takes
jobs:
  deploy:
    runs-on: ubuntu-latest
` + environment + `    steps:
      - uses: actions/checkout@v5
      - run: ` + run[0] + `
      - run: ` + run[1] + `
`
}

// gitLabJob returns a job; docs/ci.md has the same.
func gitLabJob(d *v1alpha1.TeamDeployer, portal string, run []string) string {
	rule, environment := `$CI_COMMIT_BRANCH == "`+cmp.Or(d.Branch, "main")+`"`, ""
	if d.Tag != "" {
		rule = `$CI_COMMIT_TAG == "` + d.Tag + `"`
	}
	if d.Environment != "" {
		environment = "  environment: " + d.Environment + "\n"
	}
	return `deploy:
  rules:
    - if: ` + rule + `
` + environment + `  id_tokens:
    PORTICO_ID_TOKEN:
      aud: ` + portal + `
  script:
    - ` + run[0] + `
    - ` + run[1] + `
`
}

// deployers handles the buttons of the deployers' forms: add and remove.
func (p *Pages) deployers(w http.ResponseWriter, r *http.Request) error {
	l, obj, t, err := p.readPosted(w, r)
	if err != nil {
		return err
	}
	form, etag := readDeployer(r), r.PostForm.Get("etag")
	show := func(problem string, errs []string) forms {
		form.Errors = errs
		return forms{member: views.MemberForm{Problem: problem}, deployer: form}
	}
	if write.ETag(obj) != etag {
		return p.showTeam(w, r, l, obj, show(changedMeanwhile, nil), http.StatusConflict)
	}
	rows, wrong := changedDeployers(t, form, r.PostForm.Get("do"))
	if wrong != "" {
		return p.showTeam(w, r, l, obj, show("", []string{wrong}), http.StatusUnprocessableEntity)
	}
	if len(rows) < len(t.Spec.Deployers) && r.PostForm.Get("sure") != "yes" {
		form.Sure = true
		return p.showTeam(w, r, l, obj, show("", nil), http.StatusOK)
	}
	list, err := unstructuredRows(rows)
	if err != nil {
		return err
	}
	return p.patch(w, r, l, obj, map[string]any{"deployers": list}, etag, show)
}

// changedDeployers returns the deployers after the change that the form requests, or what is wrong with the form.
func changedDeployers(t *v1alpha1.Team, form views.DeployerForm, do string) (
	rows []v1alpha1.TeamDeployer, wrong string,
) {
	rows = slices.Clone(t.Spec.Deployers)
	at := slices.IndexFunc(rows, func(d v1alpha1.TeamDeployer) bool { return d.Name == form.Name })
	switch {
	case do == "remove" && at < 0:
		return nil, "There is no deployer " + form.Name + " any more."
	case do == "remove":
		return slices.Delete(rows, at, at+1), ""
	case at >= 0:
		return nil, "There is a deployer " + form.Name + " already: choose another name, or remove that one first."
	}
	return append(rows, deployerOf(form)), ""
}

func readDeployer(r *http.Request) views.DeployerForm {
	text := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	return views.DeployerForm{
		Name: text("name"), Issuer: text("issuer"), Repository: text("repository"),
		RepositoryID: text("repositoryID"), OwnerID: text("ownerID"), Runs: text("runs"), Ref: text("ref"),
		Role: text("role"), Namespaces: r.PostForm["namespaces"],
	}
}

// deployerOf returns the deployer that a form asks for. The schema says what is wrong with it.
func deployerOf(f views.DeployerForm) v1alpha1.TeamDeployer {
	d := v1alpha1.TeamDeployer{
		Name: f.Name, Issuer: f.Issuer, Repository: f.Repository, RepositoryID: v1alpha1.ForgeID(f.RepositoryID),
		OwnerID: v1alpha1.ForgeID(f.OwnerID), Namespaces: f.Namespaces,
	}
	if i := strings.LastIndexByte(f.Repository, '/'); i > 0 {
		d.Owner = f.Repository[:i]
	}
	switch f.Runs {
	case views.RunsForTag:
		d.Tag = f.Ref
	case views.RunsForEnvironment:
		d.Environment = f.Ref
	default:
		d.Branch = f.Ref
	}
	switch role := v1alpha1.DeployerRole(f.Role); role {
	case v1alpha1.DeployerDeveloper, v1alpha1.DeployerViewer:
		d.Role = role
	default:
		d.Kinds = []v1alpha1.RequestableKind{f.Role}
	}
	return d
}

func unstructuredRows(rows []v1alpha1.TeamDeployer) ([]any, error) {
	list := make([]any, 0, len(rows))
	for i := range rows {
		one, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&rows[i])
		if err != nil {
			return nil, fmt.Errorf("writing a deployer: %w", err)
		}
		list = append(list, one)
	}
	return list, nil
}
