package pages

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/web/views"
)

func rowsOfList(l views.List) string {
	var names []string
	for _, r := range l.Rows {
		names = append(names, r.Name)
	}
	return strings.Join(names, " ")
}

func TestArrange(t *testing.T) {
	at := func(days int) views.Moment {
		return views.Moment{At: noon.Add(-time.Duration(days) * 24 * time.Hour), Now: noon}
	}
	all := []views.Resource{
		{Name: "b", Kind: "Bucket", Plural: "s3buckets", Phase: phase.Ready, RequestedBy: "ann", Endpoint: "payments-b", Created: at(1)},
		{Name: "a", Kind: "Queue", Plural: "sqsqueues", Phase: phase.Ready, RequestedBy: "bob", Created: at(3)},
		{Name: "d", Kind: "Bucket", Plural: "s3buckets", Phase: phase.NeedsYou, RequestedBy: "bob", Created: at(2)},
		{Name: "c", Kind: "Bucket", Plural: "s3buckets", Phase: phase.Deleting, Created: at(4)},
	}
	for query, want := range map[string]string{
		"":                         "d c a b", // what needs attention first, then by name
		"sort=name":                "a b c d",
		"sort=-name":               "d c b a",
		"sort=age":                 "b d a c", // youngest first
		"sort=by":                  "c b a d",
		"sort=kind":                "b c d a",
		"sort=nonsense":            "d c a b",
		"kind=s3buckets":           "d c b",
		"status=ready":             "a b",
		"status=needs-you":         "d",
		"q=BOB":                    "d a",
		"q=payments bucket":        "b",
		"q=nothing":                "",
		"status=ready&page=99":     "a b", // beyond the end is the last page
		"kind=s3buckets&q=d":       "d",
		"sort=-age&kind=s3buckets": "c d b",
	} {
		v, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		l := views.List{Query: queryOf(v)}
		arrange(&l, all)
		if got := rowsOfList(l); got != want {
			t.Errorf("%q shows %q, want %q", query, got, want)
		}
		if l.Total != 4 || l.Counts[0].N != 1 || l.Counts[2].N != 2 {
			t.Errorf("%q changed the counts: %v of %d", query, l.Counts, l.Total)
		}
	}
}

func TestPages(t *testing.T) {
	var all []views.Resource
	for i := range 60 {
		all = append(all, views.Resource{Name: fmt.Sprintf("r%02d", i), Phase: phase.Ready})
	}
	l := views.List{Query: views.Query{Page: 3}}
	arrange(&l, all)
	if l.Pages != 3 || len(l.Rows) != 10 || l.Rows[0].Name != "r50" {
		t.Errorf("page 3 of %d has %d rows from %s", l.Pages, len(l.Rows), l.Rows[0].Name)
	}
}

func TestQueryEncodesWhatItReads(t *testing.T) {
	for _, q := range []string{"", "?kind=s3buckets&page=2&q=a+b&sort=-age&status=ready"} {
		v, err := url.ParseQuery(strings.TrimPrefix(q, "?"))
		if err != nil {
			t.Fatal(err)
		}
		if got := queryOf(v).Encode(); got != q {
			t.Errorf("%q came back as %q", q, got)
		}
	}
}

func TestCompare(t *testing.T) {
	lines, added := compare("a: 1\nspec:\n  x: 1\n", "a: 1\nspec:\n  d: 2\n  x: 1\n")
	var got []string
	for _, l := range lines {
		got = append(got, l.Mark+"|"+l.Text)
	}
	if want := "|a: 1 |spec: plus|  d: 2 |  x: 1"; strings.Join(got, " ") != want || added != 1 {
		t.Errorf("compared to %q with %d added, want %q", strings.Join(got, " "), added, want)
	}
	if lines, added = compare(strings.Repeat("a\n", 2000), strings.Repeat("b\n", 2000)); len(lines) != 2000 || added != 0 {
		t.Errorf("large objects must only be shown, got %d lines with %d added", len(lines), added)
	}
}
