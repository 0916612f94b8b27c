package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/cluster/teams"
)

func TestTeamPageTellsWhatTheTeamMayHave(t *testing.T) {
	unseen := platformWith(func(f *fakeCluster) {
		f.denied = []string{
			"list resourcequotas payments", "list rolebindings payments", "list gatewayhostnamerequests payments",
			"create gatewayhostnamerequests payments",
		}
	})
	bare := platformWith(func(f *fakeCluster) {
		f.Spaces.Quotas, f.Spaces.Bindings, f.grant, f.open = nil, nil, nil, nil
	})
	broken := platformWith(func(f *fakeCluster) {
		f.open = []teams.Provider{
			{
				Name: "aws-prod", Region: "eu-west-1", AllowedRegions: []string{"eu-west-1", "eu-north-1"},
				Message: "the role cannot be assumed",
			},
		}
	})
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		path         string
		status       int
		shows, hides string
	}{
		"the way to it":                     {platformSite, "/teams/payments", 200, `href="/teams/payments/about"`, ""},
		"no way to it where there is none":  {platformSite, "/teams/-", 200, "", `/teams/-/about"`},
		"a quota":                           {platformSite, "/teams/payments/about", 200, "5 of 5, full", "3 of 10"},
		"a quota of Kubernetes' own":        {platformSite, "/teams/payments/about", 200, "1500m of 4", ""},
		"who is in it":                      {platformSite, "/teams/payments/about", 200, `<li><code>team-payments</code> <small class="dim">group</small></li>`, "oidc:team"},
		"what a role allows":                {platformSite, "/teams/payments/about", 200, "<b>portico-developer</b> <small>may request, change and delete</small>", ""},
		"accounts":                          {platformSite, "/teams/payments/about", 200, "<code>123456789012</code>", ""},
		"an account that does not work":     {broken, "/teams/payments/about", 200, "The role cannot be assumed.", ""},
		"regions that it allows besides":    {broken, "/teams/payments/about", 200, "eu-west-1, eu-north-1", "eu-west-1, eu-west-1"},
		"hostnames":                         {platformSite, "/teams/payments/about", 200, "<code>payments.example.com, pay.example.org</code>", ""},
		"how to log in":                     {platformSite, "/teams/payments/about", 200, "portico login https://portal.example.com", ""},
		"the address of the API":            {platformSite, "/teams/payments/about", 200, "https://portal.example.com/api/v1/namespaces/payments/s3buckets", ""},
		"a kubeconfig":                      {platformSite, "/teams/payments/about", 200, "--server=https://k8s.example.com:6443", "angle brackets"},
		"quotas that may not be seen":       {unseen, "/teams/payments/about", 200, "lacks the right to list resourcequotas", "5 of 5"},
		"members that may not be seen":      {unseen, "/teams/payments/about", 200, "lacks the right to list rolebindings", "team-payments"},
		"hostnames that may not be seen":    {unseen, "/teams/payments/about", 200, "You see the hostnames that are possible here", "pay.example.org"},
		"a team without quotas":             {bare, "/teams/payments/about", 200, "No quota: unlimited", "<progress"},
		"a team without members":            {bare, "/teams/payments/about", 200, "Nobody has a role in this namespace alone", ""},
		"a team without accounts":           {bare, "/teams/payments/about", 200, "The team cannot use any AWS account yet", ""},
		"a team without hostnames":          {bare, "/teams/payments/about", 200, "The team cannot have hostnames yet", ""},
		"the platform, which is no team":    {platformSite, "/teams/_platform/about", 404, "Page not found", ""},
		"its stream, which there is not":    {platformSite, "/teams/_platform/about/live", 404, "Page not found", ""},
		"all teams, which are no team":      {platformSite, "/teams/-/about", 404, "Page not found", ""},
		"a tile with what is left":          {platformSite, "/teams/search/catalog", 200, "<dd>7 of 10 left</dd>", ""},
		"a tile that is full":               {platformSite, "/teams/payments/catalog", 200, "The team has as many as its quota allows", `href="/teams/payments/new/s3buckets"`},
		"a tile without a quota":            {platformSite, "/teams/payments/catalog", 200, `href="/teams/payments/new/rdsinstances"`, "of 10 left"},
		"a tile with the time it takes":     {platformSite, "/teams/payments/catalog", 200, "<dt>Usually ready in</dt><dd>2 s</dd>", ""},
		"a tile that nobody has measured":   {platformSite, "/teams/payments/catalog", 200, `<dd class="dim">not enough data yet</dd>`, ""},
		"tiles without a right on quotas":   {unseen, "/teams/payments/catalog", 200, `href="/teams/payments/new/s3buckets"`, " left</dd>"},
		"the stream of the tiles, which is": {platformSite, "/teams/payments/catalog", 200, `hx-sse:connect="/teams/payments/catalog/live"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), developer, c.path)
			answers(t, w, c.status, c.shows, c.hides)
		})
	}
}

func TestTeamPageIsForThoseWhoMayLookIntoTheTeam(t *testing.T) {
	f := platformSite(t)
	f.denied = []string{"* payments"}
	for _, path := range []string{"/teams/payments/about", "/teams/payments/about/live"} {
		if w := visit(t, f, developer, path); w.Code != http.StatusForbidden ||
			strings.Contains(w.Body.String(), "portico-developer") {
			t.Errorf("%s answers %d", path, w.Code)
		}
	}
	f = platformSite(t)
	f.down = true
	for _, path := range []string{"/teams/payments/about", "/teams/payments/catalog", "/teams"} {
		if w := visit(t, f, developer, path); w.Code != http.StatusServiceUnavailable {
			t.Errorf("while Kubernetes is away %s answers %d", path, w.Code)
		}
	}
}

func TestTeamsAreFoundAmongHundreds(t *testing.T) {
	hundreds := platformWith(func(f *fakeCluster) {
		for i := range 200 {
			f.Spaces.Names = append(f.Spaces.Names, fmt.Sprintf("team-%03d", i))
		}
	})
	none := platformWith(func(f *fakeCluster) { f.denied = []string{"* payments", "* search", "* portico-gateways"} })
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		path         string
		status       int
		shows, hides string
	}{
		"numbers, as a way to what they count": {platformSite, "/teams", 200, `href="/teams/payments?status=needs-you"`, ""},
		"a team without resources":             {platformSite, "/teams", 200, `<span class="dim">none</span>`, ""},
		"a page of many":                       {hundreds, "/teams", 200, "203 teams, page 1 of 5", "team-199"},
		"the last page":                        {hundreds, "/teams?page=99", 200, "team-199", "team-000"},
		"a search":                             {hundreds, "/teams?q=TEAM-19", 200, "10 of 203 teams", "payments</a>"},
		"a search for nothing":                 {hundreds, "/teams?q=nobody", 200, "None of 203 teams is called like that.", "<table"},
		"a page that is no number":             {hundreds, "/teams?page=x", 200, "page 1 of 5", ""},
		"a switcher of many":                   {hundreds, "/teams/payments", 200, `<a class="btn" href="/teams" aria-label="Team payments, choose another">`, `<select id="team"`},
		"a switcher of few":                    {platformSite, "/teams/payments", 200, `<select id="team"`, ""},
		"somebody without a team":              {none, "/teams", 403, "You are not in a team yet", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), developer, c.path)
			answers(t, w, c.status, c.shows, c.hides)
		})
	}
}
