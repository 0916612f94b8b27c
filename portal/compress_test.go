package portal

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWhatIsCompressed(t *testing.T) {
	body := strings.Repeat("the same words again, ", 100)
	for name, c := range map[string]struct {
		path, kind, accept string // accept is of encodings
		packed             bool
	}{
		"a page":                       {"/teams/payments", "text/html; charset=utf-8", "gzip, br", true},
		"JSON":                         {"/api/v1/resources", "application/json", "gzip", true},
		"a problem document":           {"/api/v1/resources", "application/problem+json", "gzip", true},
		"a page for who does not care": {"/teams/payments", "text/html", "", false},
		"a short answer":               {"/api/v1/me", "application/json", "gzip", false},
		"a stream":                     {"/teams/payments/live", "text/event-stream", "gzip", false},
		"a page with a log":            {"/teams/payments/webapps/shop/pods/shop-1/logs", "text/html", "gzip", false},
		"a log as JSON":                {"/api/v1/namespaces/payments/webapps/shop/logs", "application/json", "gzip", false},
		"a resource of the name":       {"/teams/payments/webapps/logs-of-shop", "text/html", "gzip", true},
	} {
		t.Run(name, func(t *testing.T) {
			flushed, body := false, body
			if name == "a short answer" {
				body = "{}"
			}
			h := compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				_, _ = io.WriteString(w, body)
				if len(body) > compressFrom { // a flush sends what there is as it would be sent later
					flushed = http.NewResponseController(w).Flush() == nil
				}
			}))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, http.NoBody)
			r.Header.Set("Accept-Encoding", c.accept)
			r.Header.Set("Accept", c.kind)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if len(body) > compressFrom && (!flushed || !w.Flushed) {
				t.Error("what is flushed stays")
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
