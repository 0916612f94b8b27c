package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, method, path, accept string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	r.Header.Set("Accept-Encoding", accept)
	Assets(w, r)
	return w
}

func TestAssetsAreImmutableAndCompressed(t *testing.T) {
	at := URL("portico.css")
	if !regexp.MustCompile(`^/assets/portico\.[0-9a-f]{12}\.css$`).MatchString(at) {
		t.Errorf("the address is %s", at)
	}
	plain, packed := get(t, http.MethodGet, at, ""), get(t, http.MethodGet, at, "gzip, br")
	unpacked, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(unpacked)
	if err != nil || string(b) != plain.Body.String() {
		t.Errorf("the compressed file is another one: %v", err)
	}
	if got := plain.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("Cache-Control is %q", got)
	}
	if w := get(t, http.MethodHead, at, ""); w.Body.Len() != 0 || w.Header().Get("Content-Length") == "0" {
		t.Error("HEAD must send the length and nothing else")
	}
}

func TestUnknownAssets(t *testing.T) {
	for _, path := range []string{
		"/assets/portico.css", "/assets/portico.000000000000.css", "/assets/LICENSE.htmx.txt",
		"/assets/../assets.go", "portico.css",
	} {
		if w := get(t, http.MethodGet, "/"+strings.TrimPrefix(path, "/"), ""); w.Code != http.StatusNotFound {
			t.Errorf("%s answers %d", path, w.Code)
		}
	}
}

// TestBudget keeps what every page loads small, as it travels.
func TestBudget(t *testing.T) {
	total := 0
	for _, name := range []string{"portico.css", "portico.js", "vendor/htmx.min.js"} {
		n := get(t, http.MethodGet, URL(name), "gzip").Body.Len()
		t.Logf("%-22s %6d bytes", name, n)
		total += n
	}
	if total > 40<<10 {
		t.Errorf("JS and CSS are %d bytes, more than 40 kB", total)
	}
}

// TestHtmxComesWithItsExtension reads both in one file, in this order: of two, htmx may begin before the other has
// arrived, and then the page opens no stream.
func TestHtmxComesWithItsExtension(t *testing.T) {
	page := get(t, http.MethodGet, URL("vendor/htmx.min.js"), "").Body.String()
	begins, extends := strings.Index(page, "DOMContentLoaded"), strings.Index(page, `registerExtension("sse"`)
	if begins < 0 || extends < begins {
		t.Errorf("htmx is at %d, the extension at %d", begins, extends)
	}
}
