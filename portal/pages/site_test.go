package pages

import (
	"context"
	"flag"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/pages/page"
)

var update = flag.Bool("update", false, "write the golden files")

func visit(t *testing.T, f *fakeCluster, id auth.Identity, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	site(f, id, noon).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

// answers checks the status of an answer, and its text as reads does.
func answers(t *testing.T, w *httptest.ResponseRecorder, status int, shows, hides string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status = %d, want %d", w.Code, status)
	}
	reads(t, w.Body.String(), shows, hides)
}

// reads checks that a text has the part that it shows, and not the one that it hides; an empty part is not checked.
func reads(t *testing.T, text, shows, hides string) {
	t.Helper()
	if !strings.Contains(text, shows) {
		t.Errorf("want %q in:\n%s", shows, text)
	}
	if hides != "" && strings.Contains(text, hides) {
		t.Errorf("want no %q in:\n%s", hides, text)
	}
}

func post(t *testing.T, f *fakeCluster, path string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	site(f, developer, noon).ServeHTTP(w, r)
	return w
}

// framed is the page whose golden file has the whole document; the others have its main element.
const framed = "resources"

// whole are the pages whose golden files have HTML: a list, a form and an object. The others have an outline.
var whole = []string{framed, "edit", "checked"}

// TestGolden compares every page with its golden file; -update writes it.
func TestGolden(t *testing.T) {
	hosts := map[string]string{
		"edit-hostname": atHostnames + "shop/edit", "form-gatewayhostnamerequest": askHostname,
		"hostname": atHostnames + "shop", "hostname-waiting": atHostnames + "pay", "hostname-taken": atHostnames +
			"lost",
		"teams": "/teams", "about": "/teams/payments/about", "admin": "/admin", "admin-pool": "/admin/pool",
		"admin-claims": "/admin/claims", "admin-grants": "/admin/grants",
		"activity": "/admin/activity",
	}
	owned := map[string]string{
		"owner": "/team/growth", "owners": "/admin/teams", "new-team": "/admin/teams/new",
		"edit-team": "/teams/_platform/teams/growth/edit", "suspend": "/team/growth/suspend",
		"sessions": endSessions, "sessions-review": endSessions + "?user=jo%40example.com",
	}
	pages := map[string]string{
		"resources": "/teams/payments", "empty": "/teams/search", "catalog": "/teams/payments/catalog",
		"detail": "/teams/payments/s3buckets/ledger-archive", "events": "/teams/payments/s3buckets/invoices?tab=events",
		"checked": "/teams/payments/s3buckets/invoices", "yaml": "/teams/payments/s3buckets/invoices?tab=yaml",
		"deleting": "/teams/payments/s3buckets/import-tmp",
		"edit":     editing1, "delete": "/teams/payments/s3buckets/invoices/delete",
		"not-found": "/teams/payments/s3buckets/none",
	}
	for _, k := range busySite(t).Kinds.Offered() {
		team := "payments"
		if !k.Namespaced {
			team = page.PlatformTeam
		}
		pages["form-"+strings.ToLower(k.Name)] = "/teams/" + team + "/new/" + k.Plural
	}
	apps := map[string]string{"app": atShop, "app-logs": atShop + "/logs"}
	pages["admin-rights"], pages["deleted"] = "/admin/rights", atDeleted
	maps.Copy(pages, apps)
	maps.Copy(pages, hosts)
	maps.Copy(pages, owned)
	for name, path := range pages {
		t.Run(name, func(t *testing.T) {
			id, f := developer, busySite(t)
			if strings.Contains(path, page.PlatformTeam) || strings.HasPrefix(path, "/admin") || owned[name] != "" {
				id = platformAdmin
			}
			if owned[name] != "" {
				f = ownedSite(t)
			}
			if name == "admin-rights" {
				f = rightsSite(t)
			}
			if apps[name] != "" {
				f = measuredShop(t)
			}
			if name == "deleted" {
				f = leftovers(t)
			}
			if hosts[name] != "" {
				f = happened(hostnameSite(t))
			}
			html := visit(t, f, id, path).Body.String()
			if name != framed {
				html = mainOf(t, html)
			}
			comparePage(t, name, html)
		})
	}
}

// mainOf returns the main element of a page: the rest is the same on every page.
func mainOf(t *testing.T, html string) string {
	t.Helper()
	from, to := strings.Index(html, "<main"), strings.LastIndex(html, "</main>")
	if from < 0 || to < from {
		t.Fatalf("the page has no main:\n%s", html)
	}
	return html[from:to] + "</main>\n"
}

// comparePage compares a page with its golden file, line by line.
func comparePage(t *testing.T, name, page string) {
	t.Helper()
	file, got := filepath.Join("testdata", name+".golden"), outline(t, page)
	if slices.Contains(whole, name) {
		file, got = filepath.Join("testdata", name+".html"), inLines(page)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: withoutHashes(string(want)), B: withoutHashes(got), FromFile: file, ToFile: "the page", Context: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff != "" {
		t.Errorf("the page differs from %s: look at it, then run go test ./portal/pages -update\n%s", file, diff)
	}
}

var icon = regexp.MustCompile(`(?s)<svg.*?</svg>`)

// inLines returns HTML with a tag on each line, and each icon on one.
func inLines(page string) string {
	page = strings.ReplaceAll(page, "><", ">\n<")
	return icon.ReplaceAllStringFunc(page, func(svg string) string { return strings.ReplaceAll(svg, ">\n<", "><") })
}

// withoutHashes returns the lines without fingerprinted URLs, which change with every style.
func withoutHashes(html string) []string {
	return slices.DeleteFunc(slices.Collect(strings.Lines(html)), func(line string) bool {
		return strings.Contains(line, "/assets/")
	})
}

// TestStrictPolicy looks for what the content security policy forbids, and for errors that it would hide.
func TestStrictPolicy(t *testing.T) {
	for _, path := range []string{
		"/teams/payments", "/teams/payments/new/s3buckets",
		"/teams/payments/s3buckets/invoices", editing1, askHostname, atHostnames + "shop", "/admin", "/admin/claims",
	} {
		f := hostnameSite(t)
		f.objects = append(f.objects, busySite(t).objects...)
		w := visit(t, f, platformAdmin, path)
		html := w.Body.String()
		if w.Code != http.StatusOK {
			t.Errorf("%s answers %d", path, w.Code)
		}
		for _, bad := range []string{" style=", "<style", "hx-on", "js:", "javascript:", "<script>", " onclick"} {
			if strings.Contains(html, bad) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
	}
}

func TestStatuses(t *testing.T) {
	denied := busySite(t)
	denied.denied = []string{"* search", "create payments", "delete payments"}
	down := busySite(t)
	down.down = true
	for _, c := range []struct {
		name   string
		f      *fakeCluster
		path   string
		status int
		words  string
	}{
		{"home leads to the team", denied, "/", 303, ""},
		{"switcher", denied, "/switch?team=payments", 303, ""},
		{"the address of an action leads to the object", denied, "/teams/payments/webapps/shop/scale", 303, ""},
		{"that of another action too", denied, "/teams/payments/webapps/shop/rollback", 303, ""},
		{"another team's list", denied, "/teams/search", 403, "You have no access to this"},
		{"another team's resource", denied, "/teams/search/s3buckets/x", 403, "You have no access to this"},
		{"another team's stream", denied, "/teams/search/live", 403, ""},
		{"a form that may not be sent", denied, "/teams/payments/new/s3buckets", 403, "You are not allowed to create s3buckets in namespace payments"},
		{"a tile that is disabled", denied, "/teams/payments/catalog", 200, "can view, but not request"},
		{"deleting without the right", denied, "/teams/payments/s3buckets/invoices/delete", 403, "You have no access"},
		{"the platform's kinds for a developer", denied, "/teams/_platform", 403, "You have no access"},
		{"a team that cannot be", denied, "/teams/%2e%2e", 403, "You have no access"},
		{"a path for a team", denied, "/teams/a%2Fb/s3buckets/x", 403, "You have no access"},
		{"no team", denied, "/teams//s3buckets/x", 403, "You have no access"},
		{"no team's stream", denied, "/teams//live", 403, "You have no access"},
		{"a name that cannot be", denied, "/teams/payments/s3buckets/%2e%2e", 404, "It does not exist"},
		{"a path for a name", denied, "/teams/payments/s3buckets/a%2Fb", 404, "It does not exist"},
		{"editing a name that cannot be", denied, "/teams/payments/s3buckets/UPPER/edit", 404, "It does not exist"},
		{"a Team that cannot be", denied, "/team/UPPER", 404, "It does not exist"},
		{"an unknown kind", denied, "/teams/payments/nonsense/x", 404, "Page not found"},
		{"an unknown name", denied, "/teams/payments/s3buckets/none", 404, "It does not exist"},
		{"an unknown page", denied, "/nowhere", 404, "Page not found"},
		{"Kubernetes is away", down, "/teams/payments", 503, "The cluster does not answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := visit(t, c.f, developer, c.path)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.words) {
				t.Errorf("%s answers %d, want %d with %q:\n%s", c.path, w.Code, c.status, c.words, w.Body)
			}
			if strings.Contains(w.Body.String(), "192.0.2.1") {
				t.Error("the page shows an internal error")
			}
			if w.Header().Get("Cache-Control") != "no-store" {
				t.Error("the page may be stored")
			}
		})
	}
}

func TestNobodyInNoTeam(t *testing.T) {
	f := busySite(t)
	f.denied = []string{"* payments", "* search"}
	if w := visit(t, f, developer, "/"); w.Code != 403 ||
		!strings.Contains(w.Body.String(), "You are not in a team yet") {
		t.Errorf("answers %d:\n%s", w.Code, w.Body)
	}
}

// TestStreamEnds: a closed page leaves no goroutine behind; TestMain checks that.
func TestStreamEnds(t *testing.T) {
	f := busySite(t)
	server := httptest.NewServer(site(f, platformAdmin, noon))
	defer server.Close()
	for _, path := range []string{
		"/teams/payments/live", "/teams/payments/s3buckets/invoices/live",
		"/admin/live?tab=claims",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 6)
		if _, err := res.Body.Read(first); err != nil || string(first) != "data: " {
			t.Errorf("%s begins with %q, %v", path, first, err)
		}
		cancel()
		_ = res.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestWhereHomeIs(t *testing.T) {
	in := func(id auth.Identity, groups ...string) auth.Identity {
		id.Groups = groups
		return id
	}
	for _, c := range []struct {
		name string
		id   auth.Identity
		want string
	}{
		{"the team that a group names", in(developer, "oidc:team-search"), "/teams/search"},
		{"else the first of the teams", in(developer, "oidc:nobody-knows"), "/teams/payments"},
		{"the platform, for those who look after it", platformAdmin, "/admin"},
		{"a team of one's own before that", in(platformAdmin, "admins", "oidc:search"), "/teams/search"},
	} {
		w := visit(t, busySite(t), c.id, "/")
		if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != c.want {
			t.Errorf("%s: %d to %s, want %s", c.name, w.Code, got, c.want)
		}
	}
}
