package pages

import (
	"context"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/rest"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// about shows the page about a team's quotas, members, and ways to reach it.
func (p *Pages) about(w http.ResponseWriter, r *http.Request) error {
	id, s, err := p.CallerInTeam(r)
	if err != nil {
		return err
	}
	frame, err := p.Frame(r, id, s, "Team")
	if err != nil {
		return err
	}
	frame.Section = views.TeamSection
	view, err := p.aboutOf(r.Context(), id, s, frame)
	if err != nil {
		return err
	}
	if view.MaySetSecrets, err = p.maySetSecrets(r.Context(), id, s); err != nil {
		return err
	}
	view.Tools = p.tools(s.Team.ID, p.reach.cli(r.Context()))
	return p.Show(w, r, http.StatusOK, views.AboutPage(view))
}

// aboutLive streams the same page.
func (p *Pages) aboutLive(w http.ResponseWriter, r *http.Request) error {
	id, s, err := p.CallerInTeam(r)
	if err != nil {
		return err
	}
	changed := p.Follow(r.Context(), func(c feed.Change) bool {
		if c.Activity {
			return c.Namespace == s.Namespace
		}
		switch c.Kind {
		case feed.Quotas, feed.RoleBindings, "hostnamegrants":
			return c.Namespace == s.Namespace
		case "awsproviders":
			return !c.Events
		}
		return false
	})
	return p.Live(w, r, id, page.Live{
		Changed: changed,
		Allowed: func(ctx context.Context) error { return p.mayList(ctx, id, s) },
		Render: func(ctx context.Context) ([]sse.Part, error) {
			view, err := p.aboutOf(ctx, id, s, views.Frame{Team: s.Team})
			if err != nil {
				return nil, err
			}
			return page.Parts(ctx, page.Replace("quotas", views.TeamQuotasPart(view)),
				page.Replace("members", views.MembersPart(view)), page.Replace("allowed", views.AllowedPart(view)),
				page.Replace("activity", views.TeamActivityPart(view)))
		},
	})
}

// aboutOf returns what the caller can see of the team. It is for callers who can list any of its resources; parts
// without the right are shown as hidden.
func (p *Pages) aboutOf(ctx context.Context, id auth.Identity, s page.Space, frame views.Frame) (views.About, error) {
	view := views.About{Frame: frame}
	if err := p.mayList(ctx, id, s); err != nil {
		return view, err
	}
	for _, add := range []func(context.Context, auth.Identity, page.Space, *views.About) error{
		p.addTeamQuotas, p.addMembers, p.addAccounts, p.addHostnames, p.addActivity,
	} {
		if err := add(ctx, id, s, &view); err != nil {
			return view, err
		}
	}
	return view, nil
}

// maySetSecrets reports whether the caller can use the page that sets values of Secrets.
func (p *Pages) maySetSecrets(ctx context.Context, id auth.Identity, s page.Space) (bool, error) {
	may, err := p.Cluster.People.MayValues(ctx, id, "update", s.Namespace, "")
	if err == nil && !may {
		may, err = p.Cluster.People.MayValues(ctx, id, "create", s.Namespace, "")
	}
	return may, err
}

func (p *Pages) addTeamQuotas(ctx context.Context, id auth.Identity, s page.Space, view *views.About) error {
	all, err := p.Cluster.Teams.Quotas(ctx, id, s.Namespace)
	view.Quotas = views.QuotaUses{Uses: p.QuotaUses(all)}
	return page.Hiding(&view.Quotas.Hidden, err)
}

func (p *Pages) addActivity(ctx context.Context, id auth.Identity, s page.Space, view *views.About) error {
	done, err := p.Activity(ctx, id, s.Namespace)
	view.Activity = p.ActivityOf(done.Events)
	return page.Hiding(&view.Activity.Hidden, err)
}

func (p *Pages) addMembers(ctx context.Context, id auth.Identity, s page.Space, view *views.About) error {
	all, err := p.Cluster.Teams.Members(ctx, id, s.Namespace)
	if err := page.Hiding(&view.MembersHidden, err); err != nil || view.MembersHidden {
		return err
	}
	for _, m := range all { // sorted by role
		if n := len(view.Members); n == 0 || view.Members[n-1].Name != m.Role {
			view.Members = append(view.Members, views.Role{Name: m.Role, What: roleWords[m.Role]})
		}
		role := &view.Members[len(view.Members)-1]
		role.Who = append(role.Who, p.subject(m))
	}
	return nil
}

// roleWords describe what Portico's roles allow.
var roleWords = map[string]string{
	"portico-viewer":    "may look",
	"portico-developer": "may request, change and delete",
	"portico-owner":     "may request, change and delete, and decides who the members are",
	"portico-admin":     "looks after the platform",
}

// subject returns the subject of a role. The display name is shown beside the name that rights depend on, never instead
// of it.
func (p *Pages) subject(m teams.Member) views.Subject {
	s := views.Subject{Kind: subjectKind(m.Kind), Name: humanize.Person(m.Name)}
	switch m.Kind {
	case "Group":
		s.Called = p.Names.Groups[m.Name]
	case "User":
		s.Name = p.Called(m.Name)
	}
	return s
}

func subjectKind(kind string) string {
	if kind == "ServiceAccount" {
		return "service account"
	}
	return strings.ToLower(kind)
}

// addAccounts adds the AWS accounts, using any kind that needs one: they are the same for all kinds.
func (p *Pages) addAccounts(ctx context.Context, id auth.Identity, s page.Space, view *views.About) error {
	for _, k := range s.Kinds {
		if !k.Has("providerRef") {
			continue
		}
		all, err := p.Cluster.Teams.Providers(ctx, id, k, s.Namespace)
		if page.Unseen(err) {
			view.ProvidersHidden = true
			continue
		}
		if err != nil {
			return err
		}
		view.ProvidersHidden = false
		for _, a := range all {
			view.Providers = append(view.Providers, views.Account{
				Name: a.Name, Account: a.AccountID,
				Regions: append([]string{a.Region}, otherThan(a.Region, a.AllowedRegions)...), Ready: a.Ready,
				Why: humanize.Sentence(a.Message),
			})
		}
		return nil
	}
	return nil
}

func otherThan(one string, all []string) []string {
	var out []string
	for _, s := range all {
		if s != one {
			out = append(out, s)
		}
	}
	return out
}

func (p *Pages) addHostnames(ctx context.Context, id auth.Identity, s page.Space, view *views.About) error {
	grant, err := p.Cluster.Hostnames.Grant(ctx, id, s.Namespace)
	if err := page.Hiding(&view.HostnamesHidden, err); err != nil || grant == nil {
		return err
	}
	view.Hostnames = &views.Grant{
		Suffixes: strings.Join(grant.Suffixes, ", "), Wildcards: grant.Wildcards,
		Limits: availability.Limits(*grant),
	}
	return nil
}

// tools returns the ways to a team's resources without a browser.
func (p *Pages) tools(team string, cli auth.CLI) []views.Tool {
	api := p.reach.Portal + rest.Prefix
	audience := "<audience>"
	if len(cli.Audiences) > 0 {
		audience = cli.Audiences[0]
	}
	return []views.Tool{
		{
			Command: views.Command{ID: "tool-cli", Title: "portico on the command line", Text: "portico login " + p.reach.Portal + "\nportico get -n " + team},
			Needs: "It signs you in with your browser, or with a code on a machine that has none, and keeps a " +
				"token for you.",
		},
		{
			Command: views.Command{ID: "tool-api", Title: "The REST API, for programs", Text: strings.Join([]string{
				"# once: kubectl create serviceaccount ci -n " + team + ", and bind it a role there",
				"TOKEN=$(kubectl create token ci -n " + team + " --audience=" + audience + ")",
				`curl -H "Authorization: Bearer $TOKEN" ` + api + "/namespaces/" + team + "/s3buckets",
			}, "\n")},
			Needs: "The API is at " + api + ", and " + api + "/openapi.json describes it. It takes ID tokens of your " +
				"identity provider, and tokens of ServiceAccounts, with its own audience.",
		},
		{Command: views.Command{ID: "tool-kubectl", Title: "kubectl", Text: p.kubeconfig(team, cli)}, Needs: p.kubeconfigNeeds(cli)},
	}
}

// kubeconfig returns commands that write a kubeconfig. Unknown values are in angle brackets.
func (p *Pages) kubeconfig(team string, cli auth.CLI) string {
	known := func(s, what string) string {
		if s == "" {
			return "<" + what + ">"
		}
		return s
	}
	lines := []string{
		"kubectl config set-cluster portico --server=" + known(p.reach.Kubernetes, "URL of the API server"),
		"kubectl config set-credentials portico --exec-api-version=client.authentication.k8s.io/v1 \\",
		"  --exec-command=kubectl --exec-arg=oidc-login --exec-arg=get-token \\",
		"  --exec-arg=--oidc-issuer-url=" + known(cli.Issuer, "URL of the identity provider") + " \\",
		"  --exec-arg=--oidc-client-id=" + known(cli.ClientID, "public client of kubectl"),
	}
	for _, scope := range cli.Scopes {
		if scope != "openid" {
			lines[len(lines)-1] += " \\"
			lines = append(lines, "  --exec-arg=--oidc-extra-scope="+scope)
		}
	}
	return strings.Join(append(lines,
		"kubectl config set-context "+team+" --cluster=portico --user=portico --namespace="+team,
		"kubectl config use-context "+team,
		"kubectl get portico",
	), "\n")
}

func (p *Pages) kubeconfigNeeds(cli auth.CLI) string {
	words := "It needs the plugin kubelogin (kubectl krew install oidc-login), and an API server that trusts the " +
		"same identity provider."
	if p.reach.Kubernetes == "" || cli.ClientID == "" {
		words += " Ask a platform admin for what stands in angle brackets."
	}
	return words + " If the API server's certificate is your organisation's own, add --certificate-authority to the " +
		"first line."
}
