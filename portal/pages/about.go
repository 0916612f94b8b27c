package pages

import (
	"context"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/portal/rest"
	"github.com/portico-platform/portico/web/views"
)

// about is the page of what a team may have, who is in it, and how to reach it.
func (p *Pages) about(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s := p.spaceOf(r)
	if s.namespace == "" {
		return errNoPage
	}
	frame, err := p.frame(r, id, s, "Team "+s.team.Name)
	if err != nil {
		return err
	}
	frame.Section = views.TeamSection
	view, err := p.aboutOf(r.Context(), id, s, frame)
	if err != nil {
		return err
	}
	view.Tools = p.tools(s.team.ID)
	return p.show(w, r, http.StatusOK, views.AboutPage(view))
}

// aboutLive streams the same page.
func (p *Pages) aboutLive(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s := p.spaceOf(r)
	if s.namespace == "" {
		return errNoPage
	}
	changed := p.follow(r.Context(), func(c cluster.Change) bool {
		switch c.Kind {
		case cluster.Quotas, cluster.Bindings, "hostnamegrants":
			return c.Namespace == s.namespace
		case "awsproviders":
			return !c.Events
		}
		return false
	})
	return p.streams.Serve(w, r, id.Username, live.Source{
		Changed: changed, Alive: p.alive,
		Allowed: func(ctx context.Context) error { return p.mayList(ctx, id, s) },
		Render: func(ctx context.Context) ([]live.Part, error) {
			view, err := p.aboutOf(ctx, id, s, views.Frame{Team: s.team})
			if err != nil {
				return nil, err
			}
			return parts(ctx, part{"quotas", views.TeamQuotasPart(view)}, part{"members", views.MembersPart(view)}, part{"allowed", views.AllowedPart(view)})
		},
	})
}

// aboutOf is what the caller may know of the team. It is for those who may list any of its resources; what they lack the right to
// see is said to be hidden.
func (p *Pages) aboutOf(ctx context.Context, id auth.Identity, s space, frame views.Frame) (views.About, error) {
	view := views.About{Frame: frame}
	if err := p.mayList(ctx, id, s); err != nil {
		return view, err
	}
	for _, add := range []func(context.Context, auth.Identity, space, *views.About) error{
		p.addTeamQuotas, p.addMembers, p.addAccounts, p.addHostnames,
	} {
		if err := add(ctx, id, s, &view); err != nil {
			return view, err
		}
	}
	return view, nil
}

// hiding is err, unless that says that the caller may not see it: then hidden is set.
func hiding(hidden *bool, err error) error {
	if unseen(err) {
		*hidden = true
		return nil
	}
	return err
}

func (p *Pages) addTeamQuotas(ctx context.Context, id auth.Identity, s space, view *views.About) error {
	all, err := p.cluster.Quotas(ctx, id, s.namespace)
	view.Quotas = views.QuotaUses{Uses: p.quotaUses(all)}
	return hiding(&view.Quotas.Hidden, err)
}

func (p *Pages) addMembers(ctx context.Context, id auth.Identity, s space, view *views.About) error {
	all, err := p.cluster.Members(ctx, id, s.namespace)
	if err := hiding(&view.MembersHidden, err); err != nil || view.MembersHidden {
		return err
	}
	for _, m := range all { // sorted by role
		if n := len(view.Members); n == 0 || view.Members[n-1].Name != m.Role {
			view.Members = append(view.Members, views.Role{Name: m.Role, What: roleWords[m.Role]})
		}
		role := &view.Members[len(view.Members)-1]
		role.Who = append(role.Who, views.Subject{Kind: subjectKind(m.Kind), Name: prose.Person(m.Name)})
	}
	return nil
}

// roleWords say what the roles allow that come with Portico.
var roleWords = map[string]string{
	"portico-viewer":    "may look",
	"portico-developer": "may request, change and delete",
	"portico-admin":     "looks after the platform",
}

func subjectKind(kind string) string {
	if kind == "ServiceAccount" {
		return "service account"
	}
	return strings.ToLower(kind)
}

// addAccounts adds the accounts for any kind that needs one: they are the same for all.
func (p *Pages) addAccounts(ctx context.Context, id auth.Identity, s space, view *views.About) error {
	for _, k := range s.kinds {
		if !k.Has("providerRef") {
			continue
		}
		all, err := p.cluster.Providers(ctx, id, k, s.namespace)
		if unseen(err) {
			view.ProvidersHidden = true
			continue
		}
		if err != nil {
			return err
		}
		view.ProvidersHidden = false
		for _, a := range all {
			view.Providers = append(view.Providers, views.Account{
				Name: a.Name, Account: a.AccountID, Regions: append([]string{a.Region}, otherThan(a.Region, a.AllowedRegions)...), Ready: a.Ready, Why: prose.Sentence(a.Message),
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

func (p *Pages) addHostnames(ctx context.Context, id auth.Identity, s space, view *views.About) error {
	grant, err := p.cluster.HostnameGrant(ctx, id, s.namespace)
	if err := hiding(&view.HostnamesHidden, err); err != nil || grant == nil {
		return err
	}
	view.Hostnames = &views.Grant{Suffixes: strings.Join(grant.Suffixes, ", "), Wildcards: grant.Wildcards, Limits: grantLimits(*grant)}
	return nil
}

// tools are the ways to a team's resources that need no browser.
func (p *Pages) tools(team string) []views.Tool {
	api := p.reach.Portal + rest.Prefix
	audience := "<audience>"
	if len(p.reach.CLI.Audiences) > 0 {
		audience = p.reach.CLI.Audiences[0]
	}
	return []views.Tool{
		{
			Command: views.Command{ID: "tool-cli", Title: "portico on the command line", Text: "portico login " + p.reach.Portal + "\nportico get -n " + team},
			Needs:   "It signs you in with your browser, or with a code on a machine that has none, and keeps a token for you.",
		},
		{
			Command: views.Command{ID: "tool-api", Title: "The REST API, for programs", Text: strings.Join([]string{
				"# once: kubectl create serviceaccount ci -n " + team + ", and bind it a role there",
				"TOKEN=$(kubectl create token ci -n " + team + " --audience=" + audience + ")",
				`curl -H "Authorization: Bearer $TOKEN" ` + api + "/namespaces/" + team + "/s3buckets",
			}, "\n")},
			Needs: "The API is at " + api + ", and " + api + "/openapi.json describes it. It takes ID tokens of your identity provider, and tokens of ServiceAccounts, with its own audience.",
		},
		{Command: views.Command{ID: "tool-kubectl", Title: "kubectl", Text: p.kubeconfig(team)}, Needs: p.kubeconfigNeeds()},
	}
}

// kubeconfig are commands that write one. What is not known stands in angle brackets.
func (p *Pages) kubeconfig(team string) string {
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
		"  --exec-arg=--oidc-issuer-url=" + known(p.reach.CLI.Issuer, "URL of the identity provider") + " \\",
		"  --exec-arg=--oidc-client-id=" + known(p.reach.CLI.ClientID, "public client of kubectl"),
	}
	for _, scope := range p.reach.CLI.Scopes {
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

func (p *Pages) kubeconfigNeeds() string {
	words := "It needs the plugin kubelogin (kubectl krew install oidc-login), and an API server that trusts the same identity provider."
	if p.reach.Kubernetes == "" || p.reach.CLI.ClientID == "" {
		words += " Ask your platform team for what stands in angle brackets."
	}
	return words + " If the API server's certificate is your organisation's own, add --certificate-authority to the first line."
}
