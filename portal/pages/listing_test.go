package pages

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

func namesOf(all []listing.Item) string {
	var names []string
	for _, l := range all {
		names = append(names, l.Name)
	}
	return strings.Join(names, " ")
}

func TestArrange(t *testing.T) {
	at := func(days int) time.Time { return noon.Add(-time.Duration(days) * 24 * time.Hour) }
	bucket, queue := &catalog.Kind{Title: "Bucket", Plural: "s3buckets"},
		&catalog.Kind{Title: "Queue", Plural: "sqsqueues"}
	all := []listing.Item{
		{Row: &overview.Row{Name: "b", Namespace: "payments", Phase: phase.Ready, Provider: "acc", Took: time.Second, Requester: "oidc:ann", Endpoint: "payments-b", Created: at(1)}, Kind: bucket},
		{Row: &overview.Row{Name: "a", Namespace: "search", Phase: phase.Ready, Took: time.Minute, Requester: "oidc:bob", Created: at(3)}, Kind: queue},
		{Row: &overview.Row{Name: "d", Namespace: "search", Phase: phase.NeedsYou, Provider: "acc", Took: -1, Requester: "oidc:bob", Created: at(2)}, Kind: bucket},
		{Row: &overview.Row{Name: "c", Namespace: "payments", Phase: phase.Deleting, Took: -1, Created: at(4)}, Kind: bucket},
	}
	for _, l := range all {
		l.Object = &unstructured.Unstructured{}
	}
	all[3].Object.SetDeletionTimestamp(&metav1.Time{Time: noon.Add(-page.StuckAfter)})
	for query, want := range map[string]string{
		"":                         "d c a b", // what needs attention first, then by name
		"sort=name":                "a b c d",
		"sort=-name":               "d c b a",
		"sort=age":                 "b d a c", // youngest first
		"sort=by":                  "b a d c", // objects without a known requester last
		"sort=endpoint":            "b a c d",
		"sort=team":                "b c a d",
		"sort=status":              "d c a b",
		"sort=-status":             "a b c d",
		"team=search":              "d a",
		"by=me":                    "d a",
		"by=somebody":              "d c a b",
		"q=search":                 "", // every row is of the team
		"provider=acc":             "d b",
		"provider=ac":              "",
		"sort=took":                "a b c d", // the slowest first, those never ready last
		"status=stuck":             "c",
		"sort=kind":                "b c d a",
		"sort=nonsense":            "d c a b",
		"kind=s3buckets":           "d c b",
		"status=ready":             "a b",
		"status=needs-you":         "d",
		"q=BOB":                    "d a",
		"q=payments bucket":        "b",
		"q=nothing":                "",
		"status=ready&page=99":     "a b", // beyond the end: the last page
		"kind=s3buckets&q=d":       "d",
		"sort=-age&kind=s3buckets": "c d b",
	} {
		v, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		l := views.List{Query: queryOf(v)}
		if got := namesOf(arrange(&l, slices.Clone(all), viewer{"oidc:bob", noon})); got != want {
			t.Errorf("%q shows %q, want %q", query, got, want)
		}
		status := l.Query.Phase
		for _, c := range l.Counts { // each counts the rows that its link shows
			l.Query.Phase, l.Query.Batch = c.Phase.Slug(), 1
			if n := len(arrange(&l, slices.Clone(all), viewer{"oidc:bob", noon})); n != c.N {
				t.Errorf("%q counts %d of %q, and the list has %d", query, c.N, c.Phase, n)
			}
		}
		if slugs := []string{"", "needs-you", "in-progress", "ready", "paused", "deleting", "stuck"}; !slices.Contains(
			slugs, status) {
			t.Errorf("%q is read as the status %q", query, status)
		}
	}
}

func TestPages(t *testing.T) {
	for _, n := range []int{60, 1000} { // sorted completely, and only as far as shown
		var all []listing.Item
		for i := range n {
			all = append(all, listing.Item{
				Row:  &overview.Row{Name: fmt.Sprintf("r%03d", i*7%n), Phase: phase.Ready},
				Kind: &catalog.Kind{},
			})
		}
		for page := 1; page <= 3; page++ {
			l := views.List{Query: views.Query{Batch: page}}
			rows := arrange(&l, slices.Clone(all), viewer{})
			from, to := (page-1)*batchLimit, min(page*batchLimit, n)
			if batches := (n + batchLimit - 1) / batchLimit; l.Batches != batches || len(rows) != to-from {
				t.Fatalf("page %d of %d rows: %d rows of %d pages, want %d of %d", page, n, len(rows), l.Batches,
					to-from, batches)
			}
			first, last := rows[0].Name, rows[len(rows)-1].Name
			if first != fmt.Sprintf("r%03d", from) || last != fmt.Sprintf("r%03d", to-1) {
				t.Errorf("page %d of %d rows = %s, want r%03d to r%03d", page, n, namesOf(rows), from, to-1)
			}
		}
	}
}

func TestQueryEncodesWhatItReads(t *testing.T) {
	for _, q := range []string{
		"", "?by=me&kind=s3buckets&page=2&q=a+b&sort=-age&status=ready&team=search",
		"?sort=-status",
	} {
		v, err := url.ParseQuery(strings.TrimPrefix(q, "?"))
		if err != nil {
			t.Fatal(err)
		}
		if got := queryOf(v).Encode(); got != q {
			t.Errorf("%q came back as %q", q, got)
		}
	}
}

// TestAllTeamsAreListedTogether reads the list over every namespace that the caller can list.
func TestAllTeamsAreListedTogether(t *testing.T) {
	elsewhere := strings.NewReplacer("namespace: payments", "namespace: search", "oidc:payments-dev", "oidc:search-dev")
	both := func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := busySite(tb)
		f.objects = append(f.objects, object(tb, elsewhere.Replace(stalledBucket)))
		return f
	}
	denied := func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := both(tb)
		f.denied = []string{"* search"}
		return f
	}
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		path         string
		status       int
		shows, hides string
	}{
		"what two teams have under one name":     {both, "/teams/-", 200, `id="r-s3buckets-search__ledger-archive"`, ""},
		"the other one of that name":             {both, "/teams/-", 200, `id="r-s3buckets-payments__ledger-archive"`, ""},
		"whose each is":                          {both, "/teams/-", 200, `data-label="Team"><a href="/teams/search">search</a>`, ""},
		"the way to each":                        {both, "/teams/-", 200, `href="/teams/search/s3buckets/ledger-archive"`, ""},
		"one team's":                             {both, "/teams/-?team=search", 200, "search__ledger-archive", "payments__"},
		"counts of one team":                     {both, "/teams/-?team=search&q=none", 200, "None of the 1 resource of search", ""},
		"a search by team":                       {both, "/teams/-?q=search", 200, "search__ledger-archive", "payments__"},
		"what the reader asked for":              {both, "/teams/-?by=me", 200, "payments__invoices", "search__"},
		"addresses that keep the filters":        {both, "/teams/-?team=search", 200, `href="/teams/-?sort=name&amp;team=search"`, ""},
		"the switcher's choice":                  {both, "/teams/-", 200, `<option value="-" selected>All teams</option>`, ""},
		"no way to ask for something":            {both, "/teams/-", 200, "", "Request something"},
		"a team's list without the column":       {both, "/teams/payments", 200, "", `data-label="Team"`},
		"teams that may not be listed":           {denied, "/teams/-", 200, "r-s3buckets-payments__", "search__"},
		"a team that may not be listed, by name": {denied, "/teams/-?team=search", 200, "You are not allowed to see the resources of search", "search__"},
		"no choice of teams where there is one":  {denied, "/teams/payments", 200, "", "All teams"},
		"a catalog, which needs a team":          {both, "/teams/-/catalog", 200, "Choose a team", "Request a"},
		"a form, which needs a team":             {both, "/teams/-/new/s3buckets", 404, "Page not found", ""},
		"an object, which needs a team":          {both, "/teams/-/s3buckets/invoices", 404, "Page not found", ""},
		"hostnames, which need a team":           {both, "/teams/-/hostnames/check", 404, "Page not found", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), developer, c.path)
			answers(t, w, c.status, c.shows, c.hides)
		})
	}
	none := both(t)
	none.denied = []string{"* search", "* payments"}
	for _, path := range []string{"/teams/-", "/teams/-/live"} {
		if w := visit(t, none, developer, path); w.Code != 403 ||
			!strings.Contains(w.Body.String(), "You are not in a team yet") {
			t.Errorf("%s answers %d to somebody without a team", path, w.Code)
		}
	}
}
