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

// secrets is the search for secrets in everything that the operator and the portal output during the tests of this
// package.
var secrets *planted.Search

// searched runs the tests, and fails if a secret appeared in a log, a response, an object, a metric or a trace.
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
	_ = spans.Shutdown(ctx) // flush the batched spans
	keepMetrics()
	cancel()
	wait()
	return max(code, secrets.Report(os.Stderr))
}

// plantStack plants the secrets of the stack that are known from the start.
func plantStack() {
	secrets.Plant("the portal's secret at Dex", stack.PortalSecret)
	secrets.Plant("the secret key of the sample account", stack.SecretAccessKey)
}

// untraced sends spans to the search again, after a test that collected them itself.
var untraced = func() {}

// operatorLog returns a logger for an operator that logs at all levels.
func operatorLog() logr.Logger {
	return logr.FromSlogHandler(
		slog.NewJSONHandler(secrets.Into("the operator's log"), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// keepMetrics searches the metrics of both, which share a registry in these tests.
func keepMetrics() {
	w := httptest.NewRecorder()
	portal.Metrics(false).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	secrets.Write("metrics", "GET /metrics", w.Body.String())
}
