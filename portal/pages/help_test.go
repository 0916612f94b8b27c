package pages

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/docs"
)

var helped = regexp.MustCompile(`href="(/docs/[^"#]*)(?:#([^"]*))?">Help<`)

// TestEveryPageLeadsToHelp follows the link to the documentation on every page and every error page.
func TestEveryPageLeadsToHelp(t *testing.T) {
	f := secretSite(t)
	pages := []string{"/teams/payments/s3buckets/there-is-none", "/nowhere"}
	for page := range crawl(t, f, "/teams/payments", "/teams", "/admin", "/admin/sessions") {
		pages = append(pages, page)
	}
	var seen []string
	for _, page := range pages {
		m := helped.FindStringSubmatch(visit(t, f, platformAdmin, page).Body.String())
		if m == nil {
			t.Errorf("%s leads to no help", page)
			continue
		}
		w := httptest.NewRecorder()
		docs.Handler(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, html.UnescapeString(m[1]),
			http.NoBody))
		if w.Code != http.StatusOK || m[2] != "" && !strings.Contains(w.Body.String(), `id="`+m[2]+`"`) {
			t.Errorf("%s leads to %s#%s, which there is not", page, m[1], m[2])
		}
		seen = append(seen, m[1]+"#"+m[2])
	}
	for _, want := range []string{
		"/docs/troubleshooting#", "/docs/kinds/s3bucket#", "/docs/user-guide#your-team",
		"/docs/user-guide#values-of-secrets-and-passwords",
		"/docs/admin-guide#the-overview", "/docs/user-guide#in-the-browser",
	} {
		if !slices.Contains(seen, want) {
			t.Errorf("no page leads to %s", want)
		}
	}
}
