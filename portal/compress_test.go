package portal

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
)

func TestWhatIsCompressed(t *testing.T) {
	body := strings.Repeat("the same words again, ", 100)
	for name, c := range map[string]struct {
		path, kind, accept string // accept is the Accept-Encoding header
		packed             bool
		secret             bool
	}{
		"a page":                       {"/teams/payments", "text/html; charset=utf-8", "gzip, br", true, false},
		"JSON":                         {"/api/v1/resources", "application/json", "gzip", true, false},
		"a problem document":           {"/api/v1/resources", "application/problem+json", "gzip", true, false},
		"a page for who does not care": {"/teams/payments", "text/html", "", false, false},
		"a short answer":               {"/api/v1/me", "application/json", "gzip", false, false},
		"a stream":                     {"/teams/payments/live", "text/event-stream", "gzip", false, false},
		"a page with a log":            {"/teams/payments/webapps/shop/pods/shop-1/logs", "text/html", "gzip", false, true},
		"a password as JSON":           {"/api/v1/namespaces/payments/rdsinstances/db/reveal", "application/json", "gzip", false, true},
		"a password, uncompressed":     {"/teams/payments/rdsinstances/db/password", "text/html", "", false, true},
		"a resource of the name":       {"/teams/payments/webapps/logs-of-shop", "text/html", "gzip", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			flushed, body := false, body
			if name == "a short answer" {
				body = "{}"
			}
			h := compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				if c.secret {
					auth.Untransformed(w.Header())
				}
				_, _ = io.WriteString(w, body)
				if len(body) > compressFrom { // a flush must not disable compression
					flushed = http.NewResponseController(w).Flush() == nil
				}
			}))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, http.NoBody)
			r.Header.Set("Accept-Encoding", c.accept)
			r.Header.Set("Accept", c.kind)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if len(body) > compressFrom && (!flushed || !w.Flushed) {
				t.Errorf("flushed: by the handler %v, by the writer %v, want both", flushed, w.Flushed)
			}
			if w.Header().Get("No-Gzip-Compression") != "" ||
				c.secret != strings.Contains(w.Header().Get("Cache-Control"), "no-transform") {
				t.Errorf("it has the header %v", w.Header())
			}
			got := w.Result().Body
			if packed := w.Header().Get("Content-Encoding") == "gzip"; packed != c.packed {
				t.Fatalf("compressed: %v", packed)
			}
			if c.packed {
				unpacked, err := gzip.NewReader(got)
				if err != nil {
					t.Fatal(err)
				}
				got = unpacked
				if !strings.Contains(w.Header().Get("Vary"), "Accept-Encoding") {
					t.Errorf("Vary is %q: caches would mix the forms up", w.Header().Get("Vary"))
				}
			}
			if b, err := io.ReadAll(got); string(b) != body || err != nil {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}
