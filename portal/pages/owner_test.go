package pages

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/write"
)

var stranger = auth.Identity{Username: "oidc:search-dev", Groups: []string{"oidc:team-search"}}

func TestTeamsOfThePlatform(t *testing.T) {
	none := hostnameWith(func(*fakeCluster) {})
	suspended := ownedWith(func(f *fakeCluster) { suspend(f) })
	viewer := ownedWith(func(f *fakeCluster) { f.verbs = map[string][]string{"growth": {"get"}} })
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		id           auth.Identity
		path         string
		status       int
		shows, hides string
	}{
		"the list":                            {ownedSite, platformAdmin, "/admin/teams", 200, `href="/team/growth">Growth and Marketing</a>`, "No team yet"},
		"its health":                          {ownedSite, platformAdmin, "/admin/teams", 200, `class="tally bad"`, ""},
		"its fullest quota":                   {ownedSite, platformAdmin, "/admin/teams", 200, "5 of 5, full", "3 of 10"},
		"a search by member":                  {ownedSite, platformAdmin, "/admin/teams?q=leads", 200, "1 of 1 team", ""},
		"a search for nothing":                {ownedSite, platformAdmin, "/admin/teams?q=nobody", 200, "Nothing matches", `href="/team/growth"`},
		"no team yet":                         {none, platformAdmin, "/admin/teams", 200, "No team yet", "<table"},
		"the way to the first":                {none, platformAdmin, "/admin/teams", 200, `href="/admin/teams/new"`, ""},
		"the list, for others":                {ownedSite, developer, "/admin/teams", 403, "You have no access", "<table"},
		"the form, for others":                {ownedSite, developer, "/admin/teams/new", 403, "You are not allowed to create teams", ""},
		"suspended in the list":               {suspended, platformAdmin, "/admin/teams", 200, "Suspended", ""},
		"the team's page, for an owner":       {ownedSite, developer, "/team/growth", 200, `value="add"`, "Suspend…"},
		"who is in it, without the prefix":    {ownedSite, developer, "/team/growth", 200, "<code>team-growth</code>", "<code>oidc:"},
		"its steps":                           {ownedSite, developer, "/team/growth", 200, "Roles of 3 members given in payments.", ""},
		"its quotas":                          {ownedSite, developer, "/team/growth", 200, "5 of 5, full", ""},
		"its accounts":                        {ownedSite, developer, "/team/growth", 200, `<span class="why">eu-west-1</span>`, ""},
		"the team's page, for a member":       {viewer, developer, "/team/growth", 200, "decide who the members are", `value="add"`},
		"the team's page, for strangers":      {viewer, stranger, "/team/other", 403, "You have no access", ""},
		"the team's page, for an admin":       {ownedSite, platformAdmin, "/team/growth", 200, "Suspend…", ""},
		"why it cannot be deleted":            {ownedSite, platformAdmin, "/team/growth", 200, "it has 2 now", ""},
		"a team that is not there":            {ownedSite, platformAdmin, "/team/none", 404, "It does not exist", ""},
		"asking before it is suspended":       {ownedSite, platformAdmin, "/team/growth/suspend", 200, "Everything keeps running", "Resume Growth"},
		"asking, for owners":                  {ownedSite, developer, "/team/growth/suspend", 403, "You are not allowed to update teams", ""},
		"asking before it is resumed":         {suspended, platformAdmin, "/team/growth/suspend", 200, "Resume Growth and Marketing?", ""},
		"the title in the switcher":           {ownedSite, developer, "/teams/payments", 200, "Growth and Marketing (payments)</option>", ""},
		"the title, for strangers":            {viewerless, developer, "/teams/payments", 200, ">payments</option>", "Growth"},
		"the way from the namespace":          {ownedSite, developer, "/teams/payments/about", 200, `href="/team/growth">Growth and Marketing</a>`, "<h1>Team"},
		"that it is suspended, on its page":   {suspended, developer, "/team/growth", 200, "is suspended", ""},
		"that it is suspended, on resources":  {suspended, developer, "/teams/payments", 200, "the contact of the team: growth@example.com", ""},
		"that it is suspended, elsewhere":     {suspended, developer, "/teams/search", 200, "", "is suspended"},
		"the address of a refusal leads back": {ownedSite, developer, "/team/growth/members", 303, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), c.id, c.path)
			answers(t, w, c.status, c.shows, c.hides)
		})
	}
}

func viewerless(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := ownedSite(tb)
	f.verbs = nil
	return f
}

func suspend(f *fakeCluster) {
	for _, o := range f.objects {
		if o.GetKind() == "Team" {
			_ = unstructured.SetNestedField(o.Object, true, "spec", "suspended")
		}
	}
}

// send posts a form as id.
func send(t *testing.T, f *fakeCluster, id auth.Identity, path string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	site(f, id, noon).ServeHTTP(w, r)
	return w
}

var etagInput = regexp.MustCompile(`name="etag" value="([^"]+)"`)

// etagOn returns the ETag on a page.
func etagOn(t *testing.T, f *fakeCluster, id auth.Identity, path string) string {
	t.Helper()
	m := etagInput.FindStringSubmatch(visit(t, f, id, path).Body.String())
	if m == nil {
		t.Fatal(path + " has no form")
	}
	return strings.ReplaceAll(m[1], "&#34;", `"`)
}

func teamIn(t *testing.T, f *fakeCluster) *unstructured.Unstructured {
	t.Helper()
	for _, o := range f.objects {
		if o.GetKind() == "Team" && o.GetName() == "growth" {
			return o
		}
	}
	t.Fatal("there is no team growth")
	return nil
}

// who returns the members of growth as "name role".
func who(t *testing.T, f *fakeCluster) string {
	t.Helper()
	list, _, _ := unstructured.NestedSlice(teamIn(t, f).Object, "spec", "members")
	var all []string
	for _, m := range list {
		one := m.(map[string]any)
		name, _ := one["group"].(string)
		if user, ok := one["user"].(string); ok {
			name = user
		}
		all = append(all, name+" "+one["role"].(string))
	}
	return strings.Join(all, ", ")
}

func TestMembersAreChanged(t *testing.T) {
	const before = "oidc:team-growth Developer, oidc:leads Owner, oidc:payments-dev Owner"
	policy := apierrors.NewForbidden(schema.GroupResource{Resource: "teams"}, "growth",
		&plainError{"ValidatingAdmissionPolicy 'x' denied request: owners of a team change spec.members only"})
	refusing := func(f *fakeCluster) { f.judge = func(*unstructured.Unstructured) error { return policy } }
	looker := func(f *fakeCluster) { f.verbs["growth"] = []string{"get"} }
	oneOwner := func(f *fakeCluster) {
		list := []any{map[string]any{"user": "oidc:payments-dev", "role": "Owner"}}
		_ = unstructured.SetNestedField(teamIn(t, f).Object, list, "spec", "members")
	}
	for name, c := range map[string]struct {
		change func(*fakeCluster)
		form   url.Values
		stale  bool
		status int
		shows  string
		want   string
	}{
		"a group":                {nil, url.Values{"do": {"add"}, "kind": {"group"}, "name": {"sales"}, "role": {"Viewer"}}, false, 303, "", before + ", oidc:sales Viewer"},
		"a user with the prefix": {nil, url.Values{"do": {"add"}, "kind": {"user"}, "name": {" oidc:jo "}, "role": {"Developer"}}, false, 303, "", before + ", oidc:jo Developer"},
		"another role": {nil, url.Values{
			"do": {"role"}, "kind": {"group"}, "name": {"oidc:team-growth"},
			"role": {"Viewer"},
		}, false, 303, "", strings.Replace(before, "Developer", "Viewer", 1)},
		"one less":             {nil, url.Values{"do": {"remove"}, "kind": {"group"}, "name": {"oidc:team-growth"}}, false, 303, "", strings.TrimPrefix(before, "oidc:team-growth Developer, ")},
		"nobody":               {nil, url.Values{"do": {"add"}, "kind": {"user"}, "role": {"Viewer"}}, false, 422, "Enter the name of a group or of a user.", before},
		"a member already":     {nil, url.Values{"do": {"add"}, "kind": {"group"}, "name": {"leads"}, "role": {"Viewer"}}, false, 422, "leads is a member already, as Owner", before},
		"one who is no member": {nil, url.Values{"do": {"remove"}, "kind": {"group"}, "name": {"oidc:gone"}}, false, 422, "gone is no member any more", before},
		"an owner themselves":  {nil, url.Values{"do": {"remove"}, "kind": {"user"}, "name": {"oidc:payments-dev"}}, false, 200, "you cannot undo it yourself", before},
		"an owner who is sure": {
			nil,
			url.Values{"do": {"remove"}, "kind": {"user"}, "name": {"oidc:payments-dev"}, "sure": {"yes"}},
			false,
			303, "", strings.TrimSuffix(before, ", oidc:payments-dev Owner"),
		},
		"the last owner": {
			oneOwner,
			url.Values{"do": {"role"}, "kind": {"user"}, "name": {"oidc:payments-dev"}, "role": {"Viewer"}},
			false, 200, "the last owner", "oidc:payments-dev Owner",
		},
		"after somebody else": {nil, url.Values{"do": {"add"}, "kind": {"group"}, "name": {"sales"}, "role": {"Viewer"}}, true, 409, "Somebody else changed the team", before},
		"without the right":   {looker, url.Values{"do": {"add"}, "kind": {"group"}, "name": {"sales"}, "role": {"Viewer"}}, false, 403, "You have no access", before},
		"what a policy does not want": {
			refusing,
			url.Values{"do": {"add"}, "kind": {"group"}, "name": {"sales"}, "role": {"Viewer"}},
			false, 422,
			"Owners of a team change spec.members only.", before,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := ownedSite(t)
			if c.change != nil {
				c.change(f)
			}
			etag := write.ETag(teamIn(t, f))
			if c.stale {
				etag = `"uid-growth-1-0"`
			}
			c.form.Set("etag", etag)
			w := send(t, f, developer, "/team/growth/members", c.form)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.shows) {
				t.Errorf("answers %d, want %d with %q:\n%s", w.Code, c.status, c.shows,
					after(w.Body.String(), `id="main"`))
			}
			if got := who(t, f); got != c.want {
				t.Errorf("the members are %s, want %s", got, c.want)
			}
		})
	}
}

// plainError is an error without its own type.
type plainError struct{ text string }

func (e *plainError) Error() string { return e.text }

func TestATeamIsSuspendedAndResumed(t *testing.T) {
	f := ownedSite(t)
	for _, c := range []struct {
		do   string
		want bool
	}{{"suspend", true}, {"resume", false}} {
		form := url.Values{"do": {c.do}, "etag": {etagOn(t, f, platformAdmin, "/team/growth/suspend")}}
		if w := send(t, f, platformAdmin, "/team/growth/suspend", form); w.Code != http.StatusSeeOther ||
			!strings.HasPrefix(w.Header().Get("Location"), "/team/growth?applied=") {
			t.Fatalf("%s answers %d:\n%s", c.do, w.Code, w.Body)
		}
		if got, _, _ := unstructured.NestedBool(teamIn(t, f).Object, "spec", "suspended"); got != c.want {
			t.Errorf("after %s it is %v", c.do, got)
		}
	}
	stale := url.Values{"do": {"suspend"}, "etag": {`"uid-growth-1-0"`}}
	if w := send(t, f, platformAdmin, "/team/growth/suspend", stale); w.Code != http.StatusConflict ||
		!strings.Contains(w.Body.String(), "Somebody else changed the team") {
		t.Errorf("an old version answers %d:\n%s", w.Code, w.Body)
	}
	if w := send(t, f, developer, "/team/growth/suspend", stale); w.Code != http.StatusForbidden {
		t.Errorf("an owner is answered %d", w.Code)
	}
}

func TestANewTeam(t *testing.T) {
	asked := url.Values{
		"do": {"review"}, "metadata.name": {"sales"}, "spec.title": {"Sales"},
		"spec.members": {""}, "spec.members[0]": {"{}"}, "spec.members[0].group": {"team-sales"}, "spec.members[0].role": {"Developer"},
		"spec.providers": {""}, "spec.providers[0]": {"{}"}, "spec.providers[0].name": {"aws-prod"},
	}
	with := func(set ...string) url.Values {
		out := maps.Clone(asked)
		for i := 0; i < len(set); i += 2 {
			out.Set(set[i], set[i+1])
		}
		return out
	}
	taken := ownedWith(func(f *fakeCluster) { f.taken = []string{"sales"} })
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		form         url.Values
		status       int
		shows, hides string
	}{
		"the review, in sentences":        {ownedSite, asked, 200, "The group team-sales can request, change and delete resources.", "has no owner: nobody"},
		"the prefix is added":             {ownedSite, asked, 200, "oidc:team-sales", "oidc:oidc:"},
		"a name with the prefix stays":    {ownedSite, with("spec.members[0].group", "oidc:team-sales"), 200, "oidc:team-sales", "oidc:oidc:"},
		"the namespace":                   {ownedSite, asked, 200, "creates the namespaces that do not exist: sales.", "Worth knowing</b> <ul> <li>The namespace"},
		"a namespace of nobody":           {taken, asked, 200, "lacks the label portico.dev/team=sales", ""},
		"a region that is not allowed":    {ownedSite, with("spec.providers[0].regions", "us-east-1"), 422, "us-east-1 is no region of aws-prod", ""},
		"a name that is taken":            {ownedSite, with("metadata.name", "growth", "do", "create"), 409, "is taken: the platform has a team of this name", ""},
		"no name":                         {ownedSite, with("metadata.name", ""), 422, "Enter a name", ""},
		"the form shows no prefix":        {ownedSite, with("do", "form"), 200, `value="team-sales"`, `value="oidc:team-sales"`},
		"what is entered is in its parts": {ownedSite, with("do", "form"), 200, `id="part-1"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := send(t, c.site(t), platformAdmin, "/admin/teams/new", c.form)
			answers(t, w, c.status, c.shows, c.hides)
		})
	}
	f := ownedSite(t)
	w := send(t, f, platformAdmin, "/admin/teams/new", with("do", "create"))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/team/sales" {
		t.Fatalf("creating it answers %d, %s:\n%s", w.Code, w.Header().Get("Location"), w.Body)
	}
	if w := send(t, f, developer, "/admin/teams/new", asked); w.Code != http.StatusForbidden {
		t.Errorf("a developer is answered %d", w.Code)
	}
}
