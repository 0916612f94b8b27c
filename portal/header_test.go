package portal

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestLongHeadersAreRefused: long URLs, cookies, and anything else before the body.
func TestLongHeadersAreRefused(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	go func() { served <- Serve(ctx, l, h, 0, slog.New(slog.DiscardHandler)) }()
	transport := &http.Transport{DisableKeepAlives: true}
	for name, c := range map[string]struct {
		path, cookie string
		status       int
	}{
		"short":         {"/", strings.Repeat("x", maxHeader/2), http.StatusNoContent},
		"a long cookie": {"/", strings.Repeat("x", 2*maxHeader), http.StatusRequestHeaderFieldsTooLarge},
		"a long query":  {"/?q=" + strings.Repeat("x", 2*maxHeader), "", http.StatusRequestHeaderFieldsTooLarge},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+c.path,
			http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Cookie", c.cookie)
		resp, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, c.status)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
