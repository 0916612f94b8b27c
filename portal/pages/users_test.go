package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/portico-platform/portico/portal/cluster/feed"
)

// TestDeletingAProviderTellsWhoUsesIt: references in all namespaces count, and it is deleted when none is left.
func TestDeletingAProviderTellsWhoUsesIt(t *testing.T) {
	const at = "/teams/_platform/awsproviders/aws-prod"
	few := newFake(t, provider, readyBucket, strings.NewReplacer("namespace: payments", "namespace: search").Replace(
		stalledBucket))
	many := newFake(t, provider)
	for i := range 30 {
		many.objects = append(many.objects,
			object(t, strings.NewReplacer("namespace: payments", fmt.Sprintf("namespace: team-%02d", i)).Replace(
				readyBucket)))
	}
	none := newFake(t, provider)
	narrow := newFake(t, provider, readyBucket)
	narrow.denied = []string{"list sqsqueues ", "list sqsqueues payments"}
	pool := hostnameSite(t)
	for name, c := range map[string]struct {
		f            *fakeCluster
		path         string
		shows, hides string
	}{
		"how many":                      {few, at + "/delete", `<a href="/teams/-?provider=aws-prod">2 resources</a>`, "take it out of"},
		"who":                           {few, at + "/delete", `<a href="/teams/search/s3buckets/ledger-archive">ledger-archive</a> of search uses it.`, ""},
		"what happens then":             {few, at + "/delete", "It stays, and keeps working, until nothing uses it any more", ""},
		"the first of many":             {many, at + "/delete", `<a href="/teams/-?provider=aws-prod">30 resources</a> now, among them those below`, "team-10"},
		"nobody":                        {none, at + "/delete", "", "until nothing uses it"},
		"those that cannot be known":    {narrow, at + "/delete", "Resources of kinds that you don&#39;t have access to could use it, too: message queue.", ""},
		"load balancers":                {pool, at + "/delete", `href="/teams/portico-gateways/poolgateways/gw-00"`, ""},
		"on its page":                   {few, at, `<dt>Used by</dt>`, "and more:"},
		"on its page, the first of all": {many, at, `and more: <a href="/teams/-?provider=aws-prod">30 resources</a>`, "team-10"},
		"on its page, what is hidden":   {narrow, at, "Without what you are not allowed to list: message queue.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.f, platformAdmin, c.path)
			body := strings.Join(strings.Fields(w.Body.String()), " ")
			if w.Code != http.StatusOK {
				t.Errorf("status = %d, want 200", w.Code)
			}
			reads(t, body, c.shows, c.hides)
		})
	}
}

// TestDependantsAreCounted: those that are not listed are counted, including those that the caller cannot see.
func TestDependantsAreCounted(t *testing.T) {
	f := newFake(t, deadQueue)
	for i := range 13 {
		f.objects = append(f.objects,
			object(t, strings.Replace(ordersQueue, "name: orders", fmt.Sprintf("name: orders-%02d", i), 1)))
	}
	lacks(t, visit(t, f, developer, "/teams/payments/sqsqueues/dead/delete").Body.String(), "3 others too", "orders-09")
	f.denied = []string{"list webapps payments"}
	lacks(t, visit(t, f, developer, "/teams/payments/sqsqueues/dead/delete").Body.String(),
		"of kinds that you don&#39;t have access to could use it, too: web app")
}

func TestWhoeverMayLookGetsLinesToReadWith(t *testing.T) {
	f := busySite(t)
	f.denied = []string{"patch payments", "update payments"}
	page := visit(t, f, developer, atInvoices+"?tab=yaml").Body.String()
	const address = "https://portal.example.com/api/v1/namespaces/payments/s3buckets/invoices"
	lacks(t, page, `curl -H &#34;Authorization: Bearer $TOKEN&#34; &#39;`+address+"&#39;", "curl -N -H",
		address+"?watch=true")
	if strings.Contains(page, "-X PUT") {
		t.Error("a line to change it is offered to whoever may not")
	}
}

// TestChangesAreCounted: a deletion increments the generation, and is not counted.
func TestChangesAreCounted(t *testing.T) {
	lacks(t, visit(t, busySite(t), developer, "/teams/payments/s3buckets/import-tmp?tab=activity").Body.String(),
		"changed once since it was requested")
}

// TestTheCatalogIsForWhoeverMayRequest: a caller who can create and not list can see it and its stream; a caller who
// can do neither cannot.
func TestTheCatalogIsForWhoeverMayRequest(t *testing.T) {
	f := busySite(t)
	f.denied = []string{"list payments", "* search"}
	if w := visit(t, f, developer, "/teams/payments/catalog"); w.Code != 200 ||
		!strings.Contains(w.Body.String(), "/teams/payments/new/s3buckets") {
		t.Errorf("who may create has no catalog: %d", w.Code)
	}
	synctest.Test(t, func(t *testing.T) {
		changed := func() { f.publish(feed.Change{Kind: feed.Quotas, Namespace: "payments"}) }
		if got := streaming(t, f, developer, "/teams/payments/catalog/live", changed); !strings.Contains(
			got, `id="tile-s3buckets"`) {
			t.Errorf("its stream sends %q", got)
		}
	})
	for _, path := range []string{"/teams/search/catalog", "/teams/search/catalog/live"} {
		if w := visit(t, f, developer, path); w.Code != 403 ||
			!strings.Contains(w.Body.String(), "kubectl auth can-i list s3buckets -n search") {
			t.Errorf("%s answers %d:\n%s", path, w.Code, w.Body)
		}
	}
}
