package portal

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-chi/chi/v5"
)

func TestHeadIsAnsweredAsGetWithoutABody(t *testing.T) {
	inner := chi.NewRouter()
	inner.Get("/page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Method", r.Method)
		_, _ = io.WriteString(w, "a page")
	})
	inner.Get("/gone", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusGone) })
	inner.Get("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("what is below cannot be reached: %v", err)
		}
		<-r.Context().Done()
	})
	inner.Post("/act", func(http.ResponseWriter, *http.Request) { t.Error("HEAD acted") })
	r := chi.NewRouter()
	r.Use(head)
	r.Mount("/", compress(inner))
	server := httptest.NewServer(r)
	defer server.Close()
	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"HEAD", "/page", 200, ""},
		{"GET", "/page", 200, "a page"},
		{"HEAD", "/gone", 410, ""},
		{"HEAD", "/stream", 200, ""},
		{"HEAD", "/act", 405, ""},
		{"HEAD", "/nothing", 404, ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || string(body) != c.body {
			t.Errorf("%s %s: %d %q, %v", c.method, c.path, resp.StatusCode, body, err)
		}
	}
}
