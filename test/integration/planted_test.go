//go:build integration

package integration

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/go-logr/logr"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/test/planted"
	"github.com/portico-platform/portico/test/stack"
)

// secrets is the search for secrets in all that the tests of this package make operator and portal say.
var secrets *planted.Search

// searched runs the tests, and fails if a secret was where none may be: in a log, an answer, an object, a metric or a
// trace.
func searched(m *testing.M) int {
	var err error
	if secrets, err = planted.Begin(world.Dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	wait, err := secrets.Watch(ctx, world.Admin)
	if err != nil {
		cancel()
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	plantStack()
	ctrl.SetLogger(operatorLog())
	spans := sdktrace.NewTracerProvider(sdktrace.WithBatcher(planted.Spans{Search: secrets}))
	untraced = func() { tracing.Use(spans) }
	untraced()
	code := m.Run()
	tracing.Use(nil)
	_ = spans.Shutdown(ctx) // what was batched is written
	keepMetrics()
	cancel()
	wait()
	return max(code, secrets.Report(os.Stderr))
}

// plantStack plants what is known of the stack from its beginning.
func plantStack() {
	secrets.Plant("the portal's secret at Dex", stack.PortalSecret)
	secrets.Plant("the secret key of the sample account", stack.SecretAccessKey)
}

// untraced hands the spans to the search again, after a test that collected them itself.
var untraced = func() {}

// operatorLog returns a log of an operator that tells everything.
func operatorLog() logr.Logger {
	return logr.FromSlogHandler(slog.NewJSONHandler(secrets.Into("the operator's log"), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// keepMetrics keeps the metrics of both, which share a registry here.
func keepMetrics() {
	w := httptest.NewRecorder()
	portal.Metrics(false).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	secrets.Write("metrics", "GET /metrics", w.Body.String())
}
