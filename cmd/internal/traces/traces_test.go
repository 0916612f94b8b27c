package traces

import (
	"bytes"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/test/collector"
)

func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestTracesAreOffUnlessTheEnvironmentAsks(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing":            {},
		"only a protocol":    {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		"the SDK is off":     {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		"traces are not for": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		stop, err := Start(t.Context(), "test", environment(env), slog.New(slog.DiscardHandler))
		if err != nil || tracing.On() {
			t.Errorf("%s: on %v, %v", name, tracing.On(), err)
			continue
		}
		stop()
	}
}

func TestAnotherProtocolIsRefused(t *testing.T) {
	_, err := Start(t.Context(), "test", environment(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
	}), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "http/protobuf only") || tracing.On() {
		t.Errorf("%v, on %v", err, tracing.On())
	}
}

func TestACollectorThatIsAwayIsLogged(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20hunter2")
	var log bytes.Buffer
	stop, err := Start(t.Context(), "test", os.Getenv, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	_, span := tracing.Pass(t.Context(), "S3Bucket", "payments", "invoices")
	tracing.EndPass(span, "InSync", false)
	stop()
	if tracing.On() || !strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "hunter2") {
		t.Errorf("on %v, log %s", tracing.On(), &log)
	}
}

// TestRequestsAreTracedToKubernetes: a request and its write to Kubernetes are in one trace, over real HTTP.
func TestRequestsAreTracedToKubernetes(t *testing.T) {
	to := collector.New(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	stop, err := Start(t.Context(), "portico-test", os.Getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	passedOn := make(chan http.Header, 2)
	kubernetes := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		passedOn <- r.Header
		w.WriteHeader(http.StatusConflict)
	}))
	t.Cleanup(kubernetes.Close)
	client := &http.Client{Transport: tracing.Transport(http.DefaultTransport)}
	portal := httptest.NewServer(tracing.Requests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, method := range []string{http.MethodGet, http.MethodPatch} {
			call, err := http.NewRequestWithContext(r.Context(), method, kubernetes.URL+"/apis/portico.dev?dryRun=All",
				strings.NewReader("hunter3"))
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := client.Do(call)
			if err != nil {
				t.Error(err)
				return
			}
			_ = resp.Body.Close()
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}), func(*http.Request) string { return "/r/{plural}/{name}" }))
	t.Cleanup(portal.Close)

	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, portal.URL+"/r/s3buckets/hunter1?q=hunter2",
		strings.NewReader("hunter4"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Traceparent", "00-"+trace+"-"+parent+"-01")
	req.Header.Set("Tracestate", "vendor=hunter5")
	req.Header.Set("Authorization", "Bearer hunter6")
	req.Header.Set("Baggage", "who=hunter7")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	stop()

	served := to.Named("POST /r/{plural}/{name}")
	if len(served) != 1 || hex.EncodeToString(served[0].GetTraceId()) != trace ||
		hex.EncodeToString(served[0].GetParentSpanId()) != parent {
		t.Fatalf("%d spans of the request, of services %v: %v", len(served), to.Services(), served)
	}
	if got := collector.Attribute(served[0], "http.response.status_code"); got != "503" ||
		to.Services()[0] != "portico-test" {
		t.Errorf("status %q of %v", got, to.Services())
	}
	writes := to.Children(served[0])
	if len(writes) != 1 || writes[0].GetName() != "kubernetes PATCH" ||
		collector.Attribute(writes[0], "url.path") != "/apis/portico.dev" {
		t.Fatalf("below the request: %v", writes)
	}
	read, wrote := <-passedOn, <-passedOn
	if want := "00-" + trace + "-" + hex.EncodeToString(served[0].GetSpanId()) +
		"-01"; read.Get("Traceparent") != want {
		t.Errorf("the read has the trace %q, want %q", read.Get("Traceparent"), want)
	}
	if want := "00-" + trace + "-" + hex.EncodeToString(writes[0].GetSpanId()) +
		"-01"; wrote.Get("Traceparent") != want || wrote.Get("Tracestate") != "" {
		t.Errorf("the write has the trace %q with %q, want %q", wrote.Get("Traceparent"), wrote.Get("Tracestate"), want)
	}
	for _, secret := range []string{
		"hunter1", "hunter2", "hunter3", "hunter4", "hunter5", "hunter6", "hunter7",
		"dryRun",
	} {
		if to.Holds(secret) {
			t.Errorf("the traces hold %s", secret)
		}
	}
}
