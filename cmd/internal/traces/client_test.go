package traces

import (
	"compress/gzip"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

func batch() []*tracepb.ResourceSpans {
	return []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{Name: "pass"}}}}}}
}

func TestABusyCollectorIsAskedAgain(t *testing.T) {
	answers := []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusOK}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(unzipped)
		var got tracepb.TracesData
		if err != nil || proto.Unmarshal(body, &got) != nil ||
			got.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0].GetName() != "pass" {
			t.Errorf("%q, %v", body, err)
		}
		if r.URL.Path != "/v1/traces" || r.Header.Get("Api-Key") != "a key" ||
			r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s with %v", r.URL.Path, r.Header)
		}
		w.WriteHeader(answers[0])
		answers = answers[1:]
	}))
	t.Cleanup(s.Close)
	root := filepath.Join(t.TempDir(), "root.pem")
	if err := os.WriteFile(root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	c, err := newClient(environment(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20key, x=y",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": root,
		"OTEL_EXPORTER_OTLP_TIMEOUT": "60000",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.UploadTraces(t.Context(), batch()); err != nil || len(answers) != 0 {
		t.Errorf("%v, with %d answers left", err, len(answers))
	}
}

func TestACollectorThatRefusesIsAskedOnce(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		http.Error(w, "hunter2", http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	c, err := newClient(environment(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": s.URL + "/mine"}))
	if err != nil {
		t.Fatal(err)
	}
	err = c.UploadTraces(t.Context(), batch())
	if err == nil || !strings.Contains(err.Error(), "401") {
		t.Fatalf("error = %v, want the status 401", err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error = %v, want no header in it", err)
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

func TestWrongVariablesAreNamed(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s",
		"OTEL_EXPORTER_OTLP_HEADERS": "hunter2", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere",
	} {
		_, err := newClient(environment(
			map[string]string{
				"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c",
				name: value,
			}))
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}
