package portal

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/portico-platform/portico/portal/sse"
)

func TestServeEndsStreamsAndFinishesRequests(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, stop := context.WithCancel(t.Context())
	streaming, working := make(chan struct{}), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		close(streaming)
		_ = sse.Serve(w, r, sse.Source{
			Changed: make(chan struct{}), Alive: func(context.Context) error { return nil },
			Allowed: func(context.Context) error { return nil },
			Render:  func(context.Context) ([]sse.Part, error) { return nil, nil },
		})
	})
	mux.HandleFunc("/work", func(w http.ResponseWriter, r *http.Request) {
		close(working)
		<-ctx.Done() // the server is shutting down
		if r.Context().Err() == nil {
			_, _ = io.WriteString(w, "done")
		}
	})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, mux, 0, slog.New(slog.DiscardHandler)) }()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answers := make(chan string, 2)
	for _, path := range []string{"/stream", "/work"} {
		go func() {
			req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), "GET", "http://"+l.Addr().String()+path,
				http.NoBody)
			if err != nil {
				answers <- err.Error()
				return
			}
			resp, err := transport.RoundTrip(req)
			if err != nil {
				answers <- err.Error()
				return
			}
			b, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			answers <- path + " " + string(b)
		}()
	}
	<-streaming
	<-working
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	got := []string{<-answers, <-answers}
	if joined := strings.Join(got, ","); !strings.Contains(joined, "/work done") ||
		!strings.Contains(joined, "/stream ") {
		t.Errorf("answers %v", got)
	}
}

func TestServeSaysThatTheListenerFailed(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := Serve(t.Context(), l, http.NotFoundHandler(), 0, slog.New(slog.DiscardHandler)); err == nil ||
		!strings.Contains(err.Error(), "serving on 127.0.0.1") {
		t.Error(err)
	}
}

func TestAPanicOfTheAPIIsAProblemDocument(t *testing.T) {
	w := httptest.NewRecorder()
	Parts{}.failed(w, httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/me", http.NoBody))
	if got := w.Header().Get("Content-Type"); w.Code != http.StatusInternalServerError ||
		got != "application/problem+json" {
		t.Errorf("%d %s", w.Code, got)
	}
}

func TestThePortalKnowsNoCloud(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps",
		"github.com/portico-platform/portico/cmd/portal").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.Lines(string(out)) {
		if strings.HasPrefix(pkg, "github.com/aws/") ||
			strings.HasPrefix(pkg, "github.com/portico-platform/portico/controllers") {
			t.Errorf("the portal depends on %s", strings.TrimSpace(pkg))
		}
	}
}
