package pages

import (
	"context"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/pages/page"
)

// streaming returns what a page's stream sends while then happens, within a bubble of fake time.
func streaming(t *testing.T, f *fakeCluster, id auth.Identity, path string, then func()) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		site(f, id, noon).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	}()
	synctest.Wait()
	then()
	time.Sleep(2 * page.Pace)
	synctest.Wait()
	cancel()
	<-done
	return w.Body.String()
}

// TestAStreamIsNotOlderThanItsPage: after a user's change, the stream does not show the earlier state while the cache
// lacks the change.
func TestAStreamIsNotOlderThanItsPage(t *testing.T) {
	for name, c := range map[string]struct {
		site        func(testing.TB) *fakeCluster
		who         auth.Identity
		path        string
		live, shows string // the URL of the stream, and what it sends
	}{
		"a team":                      {ownedSite, platformAdmin, "/team/growth?applied=7", "/team/growth/live?applied=7", ""},
		"a team that the cache knows": {ownedSite, platformAdmin, "/team/growth?applied=1", "/team/growth/live", "team-members"},
		"a resource": {
			busySite, developer, atInvoices + "?applied=7", atInvoices +
				"/live?tab=overview&uid=uid-invoices&applied=7", "Your change is not applied yet.",
		},
		"a resource that the cache knows": {
			busySite, developer, atInvoices + "?applied=1", atInvoices + "/live?tab=overview&uid=uid-invoices",
			"everything is as",
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := visit(t, c.site(t), c.who, c.path).Body.String()
			if want := `hx-sse:connect="` + html.EscapeString(c.live) + `"`; !strings.Contains(body, want) {
				t.Errorf("the page has no %s:\n%s", want, after(body, "hx-sse:connect"))
			}
			synctest.Test(t, func(t *testing.T) {
				got := streaming(t, c.site(t), c.who, c.live, func() {})
				if !strings.Contains(strings.ToLower(got), strings.ToLower(c.shows)) ||
					c.shows == "" && strings.Contains(got, "hx-partial") {
					t.Errorf("the stream sends %q, want %q", got, c.shows)
				}
			})
		})
	}
}

// TestAPageNeverTurnsIntoThatOfANamesake: if another object has the name now, the page says so.
func TestAPageNeverTurnsIntoThatOfANamesake(t *testing.T) {
	page := visit(t, busySite(t), developer, atInvoices).Body.String()
	lacks(t, page, `hx-sse:connect="`+atInvoices+`/live?tab=overview&amp;uid=uid-invoices"`)
	const replaced = `replaced by another one of the same name. <a href="` + atInvoices +
		`">Look at the new invoices</a>`
	for name, c := range map[string]struct {
		path         string
		uid          string // of the object before the stream begins
		then         func(*fakeCluster)
		shows, hides string
	}{
		"the same one":                      {"/live?uid=uid-invoices", "uid-invoices", func(*fakeCluster) {}, "everything is as", replaced},
		"replaced before the stream begins": {"/live?uid=uid-invoices", "another", func(*fakeCluster) {}, replaced, `id="body"`},
		"replaced while it is looked at": {"/live?uid=uid-invoices", "uid-invoices", func(f *fakeCluster) {
			f.objects[0].SetUID("another")
			f.publish(feed.Change{Kind: "s3buckets", Namespace: "payments", Name: "invoices"})
		}, replaced, ""},
		"replaced under a page of an older portal": {"/live", "uid-invoices", func(f *fakeCluster) {
			f.objects[0].SetUID("another")
			f.publish(feed.Change{Kind: "s3buckets", Namespace: "payments", Name: "invoices"})
		}, replaced, ""},
		"deleted": {"/live?uid=uid-invoices", "uid-invoices", func(f *fakeCluster) {
			f.mu.Lock()
			f.objects = f.objects[1:]
			f.mu.Unlock()
			f.publish(feed.Change{Kind: "s3buckets", Namespace: "payments", Name: "invoices"})
		}, "invoices is gone.", replaced},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := busySite(t)
				f.objects[0].SetUID(types.UID(c.uid))
				got := streaming(t, f, developer, atInvoices+c.path, func() { c.then(f) })
				if !strings.Contains(strings.ToLower(got), strings.ToLower(c.shows)) ||
					c.hides != "" && strings.Contains(got, c.hides) {
					t.Errorf("want %q and not %q:\n%s", c.shows, c.hides, got)
				}
			})
		})
	}
}

// TestTeamsAreLive: the teams' counts are updated, for users with access to any team.
func TestTeamsAreLive(t *testing.T) {
	lacks(t, visit(t, platformSite(t), developer, "/teams?q=pay").Body.String(), `hx-sse:connect="/teams/_live?q=pay"`,
		`id="live"`)
	synctest.Test(t, func(t *testing.T) {
		f := platformSite(t)
		got := streaming(t, f, developer, "/teams/_live?q=search", func() {
			f.mu.Lock()
			f.objects = append(f.objects,
				object(t, strings.Replace(stalledBucket, "namespace: payments", "namespace: search", 1)))
			f.mu.Unlock()
			f.publish(feed.Change{Kind: "s3buckets", Namespace: "search", Name: "ledger-archive"})
		})
		if !strings.Contains(got, `id="team-search"`) || strings.Contains(got, `id="team-payments"`) ||
			!strings.Contains(got, `href="/teams/search?status=needs-you"`) {
			t.Errorf("the stream does not follow:\n%s", got)
		}
	})
	none := platformSite(t)
	none.denied = []string{"* payments", "* search", "* portico-gateways"}
	if w := visit(t, none, developer, "/teams/_live"); w.Code != http.StatusForbidden {
		t.Errorf("to somebody without a team it answers %d", w.Code)
	}
}
