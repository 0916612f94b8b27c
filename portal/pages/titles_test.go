package pages

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var (
	linked = regexp.MustCompile(`<a [^>]*href="(/[^"]*)"`)
	titled = regexp.MustCompile(`<title>([^<]*)</title>`)
)

// TestNoTwoPagesShareATitle follows every link of the portal: browser tabs, bookmarks and screen readers identify pages
// by title.
func TestNoTwoPagesShareATitle(t *testing.T) {
	least := map[string]int{"busy": 40, "shop": 12, "hostnames": 20, "teams": 12, "rights": 12, "secrets": 4}
	for name, make := range map[string]func(testing.TB) *fakeCluster{
		"busy": busySite, "shop": shopSite, "hostnames": hostnameSite, "teams": ownedSite, "rights": rightsSite,
		"secrets": secretSite,
	} {
		t.Run(name, func(t *testing.T) {
			titles := crawl(t, make(t), "/teams/payments", "/teams", "/admin")
			if len(titles) < least[name] {
				t.Errorf("only %d pages were found: %v", len(titles), titles)
			}
			of := map[string]string{}
			for page, title := range titles {
				if other := of[title]; other != "" {
					t.Errorf("%s and %s are both called %q", page, other, title)
				}
				of[title] = page
			}
		})
	}
}

// crawl returns the titles of all linked pages.
func crawl(t *testing.T, f *fakeCluster, from ...string) map[string]string {
	t.Helper()
	titles, seen := map[string]string{}, map[string]bool{}
	for len(from) > 0 {
		address := from[0]
		from = from[1:]
		w := visit(t, f, platformAdmin, address)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		body := w.Body.String()
		m := titled.FindStringSubmatch(body)
		if m == nil {
			t.Fatalf("%s has no title:\n%s", address, body)
		}
		titles[address] = html.UnescapeString(m[1])
		for _, l := range linked.FindAllStringSubmatch(body, -1) {
			next := pageOf(t, html.UnescapeString(l[1]))
			if !seen[next] {
				seen[next] = true
				from = append(from, next)
			}
		}
	}
	return titles
}

// pageOf returns the URL of a page without the parameters that only arrange it: filters, order, pages.
func pageOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatalf("the link %q: %v", address, err)
	}
	asked, q := u.Query(), url.Values{}
	for _, name := range []string{"tab", "container", "key"} {
		if asked.Has(name) && asked.Get(name) != "app" { // the container whose log is the default
			q.Set(name, asked.Get(name))
		}
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String()
}
