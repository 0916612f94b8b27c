package docs

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	Handler(w, r)
	return w
}

func TestEveryKindHasAPage(t *testing.T) {
	first := get(t, "/docs").Body.String()
	for _, k := range catalogtest.Kinds(t) {
		at := "/docs/kinds/" + strings.ToLower(k.Name)
		page := get(t, at)
		if page.Code != http.StatusOK ||
			!strings.Contains(page.Body.String(), "<title>"+k.Name+" · Documentation · Portico</title>") {
			t.Errorf("%s: %d", at, page.Code)
		}
		if !strings.Contains(first, `href="`+at+`">`+k.Title+" ("+k.Name+")<") {
			t.Errorf("the first page does not lead to %s, %s", at, k.Title)
		}
	}
}

var (
	links   = regexp.MustCompile(`href="(/docs[^"#]*)?(?:#([^"]*))?"`)
	anchors = regexp.MustCompile(` id="([^"]*)"`)
)

func TestNoLinkOfAPageIsBroken(t *testing.T) {
	ids := map[string]map[string]bool{}
	for path, page := range pages() {
		ids[path] = map[string]bool{"": true}
		for _, m := range anchors.FindAllStringSubmatch(string(page.html), -1) {
			if ids[path][m[1]] {
				t.Errorf("%s has two elements %s", path, m[1])
			}
			ids[path][m[1]] = true
		}
	}
	found := 0
	for path, page := range pages() {
		for _, m := range links.FindAllStringSubmatch(string(page.html), -1) {
			to := m[1]
			if to == "" {
				to = path
			}
			if found++; !ids[to][m[2]] {
				t.Errorf("%s leads to %s", path, m[0])
			}
		}
	}
	if found < 5000 {
		t.Errorf("%d links were found", found)
	}
}

func TestAPageIsSentOnce(t *testing.T) {
	first := get(t, "/docs/user-guide/")
	if first.Code != http.StatusOK || first.Header().Get("Cache-Control") == "" ||
		!strings.Contains(first.Body.String(), "<h1") {
		t.Fatalf("%d, %v", first.Code, first.Header())
	}
	again := get(t, "/docs/user-guide", "If-None-Match", first.Header().Get("ETag"))
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("the same page again: %d with %d bytes", again.Code, again.Body.Len())
	}
	if other := get(t, "/docs/cli", "If-None-Match", first.Header().Get("ETag")); other.Code != http.StatusOK {
		t.Errorf("another page: %d", other.Code)
	}
}

func TestAPageThatThereIsNotLeadsBack(t *testing.T) {
	for _, path := range []string{"/docs/nowhere", "/docs/../x", "/docs/kinds", "/docs/README.md", "/docs/screens"} {
		page := get(t, path)
		body := page.Body.String()
		if page.Code != http.StatusNotFound || !strings.Contains(body, `href="`+views.DocsPath+`"`) ||
			strings.Contains(body, "nowhere") {
			t.Errorf("%s: %d %s", path, page.Code, body)
		}
		if page.Header().Get("ETag") != "" || page.Header().Get("Cache-Control") != "" {
			t.Errorf("%s is kept: %v", path, page.Header())
		}
	}
}
