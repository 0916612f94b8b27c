package pages

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/auth"
)

var (
	anchors  = regexp.MustCompile(`(?s)<a ([^>]*)>(.*?)</a>`)
	hrefs    = regexp.MustCompile(`href="([^"]*)"`)
	tags     = regexp.MustCompile(`(?s)<svg.*?</svg>|<[^>]*>`)
	aNumber  = regexp.MustCompile(`(?:^|[ (])(\d+)(?:$|[ )])`)
	tableRow = regexp.MustCompile(`<tr id="[^"]*" role="row"|<tr role="row" id="`)
)

// numbered returns the numbers in the texts of a page's links, by URL.
func numbered(page string) map[string]int {
	found := map[string]int{}
	for _, a := range anchors.FindAllStringSubmatch(after(page, `id="main"`), -1) {
		words := strings.Join(strings.Fields(tags.ReplaceAllString(a[2], " ")), " ")
		number, href := aNumber.FindStringSubmatch(words), hrefs.FindStringSubmatch(a[1])
		if number == nil || href == nil {
			continue
		}
		if strings.Contains(a[2], "<time") || strings.Contains(a[1], `class="name"`) {
			continue
		}
		found[html.UnescapeString(href[1])], _ = strconv.Atoi(number[1])
	}
	return found
}

// rowsAt counts the rows of a list, on all its pages.
func rowsAt(t *testing.T, f *fakeCluster, id auth.Identity, href string) int {
	t.Helper()
	n := 0
	for href != "" {
		w := visit(t, f, id, href)
		if w.Code != 200 {
			t.Fatalf("%s answers %d", href, w.Code)
		}
		body := w.Body.String()
		n += len(tableRow.FindAllString(body, -1))
		href = ""
		for _, a := range anchors.FindAllStringSubmatch(body, -1) {
			if strings.Contains(a[1], `rel="next"`) {
				href = html.UnescapeString(hrefs.FindStringSubmatch(a[1])[1])
			}
		}
	}
	return n
}

// crowded returns a platform on which every list is longer than cards and pages show.
func crowded(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := platformSite(tb)
	add := func(text string, renamed ...string) {
		f.objects = append(f.objects, object(tb, strings.NewReplacer(renamed...).Replace(text)))
	}
	for i := range 30 {
		n := fmt.Sprintf("-%02d", i)
		add(deletingBucket, "import-tmp", "import"+n)
		add(stalledBucket, "ledger-archive", "ledger"+n)
		add(readyBucket, "name: invoices", "name: team"+n, "namespace: payments",
			fmt.Sprintf("namespace: team-%d", i%7), "aws-prod", "aws-prod-2")
		f.Spaces.Quotas = append(f.Spaces.Quotas, quota("search", fmt.Sprintf("count/things%d", i), "1", "2"),
			quota("payments", fmt.Sprintf("count/things%d", i), "", "2"))
	}
	for i := range 7 {
		f.Spaces.Names = append(f.Spaces.Names, fmt.Sprintf("team-%d", i))
	}
	paused := object(tb, strings.Replace(readyBucket, "name: invoices", "name: kept", 1))
	paused.SetAnnotations(map[string]string{"portico.dev/paused": "true"})
	broken := object(tb, strings.NewReplacer("name: aws-prod", "name: aws-broken", `status: "True"`, `status: "False"`,
		"reason: InSync", "reason: Failed").Replace(provider))
	fresh := object(tb, strings.Replace(deletingBucket, "import-tmp", "just-now", 1))
	since := noon.Add(-time.Minute)
	fresh.SetDeletionTimestamp(&metav1.Time{Time: since})
	f.objects = append(f.objects, paused, broken, fresh)
	return f
}

// TestEveryNumberLeadsToAsManyRows follows each link with a number: its list shows that many rows.
func TestEveryNumberLeadsToAsManyRows(t *testing.T) {
	for _, c := range []struct {
		path   string
		as     auth.Identity
		denied []string
		least  int // links
	}{
		{"/admin", platformAdmin, nil, 30},
		{"/admin", platformAdmin, []string{"list sqsqueues ", "list sqsqueues payments"}, 30},
		{"/admin/pool", platformAdmin, nil, 0},
		{"/admin/claims", platformAdmin, nil, 0},
		{"/admin/quotas", platformAdmin, nil, 0},
		{"/admin/calls", platformAdmin, nil, 0},
		{"/teams", platformAdmin, nil, 12},
		{"/teams", developer, []string{"list sqsqueues payments"}, 12},
		{"/teams/-", platformAdmin, nil, 6},
		{"/teams/-?team=payments&q=prod&kind=s3buckets&status=ready&page=2", platformAdmin, nil, 6},
		{"/teams/-?provider=aws-prod-2", developer, nil, 6},
		{"/teams/-?status=stuck", developer, nil, 6},
		{"/teams/payments?by=me", developer, nil, 6},
		{"/teams/payments?q=nothing", developer, nil, 6},
		{"/teams/payments", developer, []string{"list sqsqueues payments"}, 6},
		{"/teams/_platform", platformAdmin, nil, 6},
		{"/teams/payments/about", developer, nil, 0},
	} {
		f := crowded(t)
		f.denied = c.denied
		links := numbered(visit(t, f, c.as, c.path).Body.String())
		if len(links) < c.least {
			t.Errorf("%s has %d links with numbers: %v", c.path, len(links), links)
		}
		for href, want := range links {
			if got := rowsAt(t, f, c.as, href); got != want {
				t.Errorf("on %s a link says %d, and %s has %d rows", c.path, want, href, got)
			}
		}
	}
}
