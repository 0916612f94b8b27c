// Package collector runs an OpenTelemetry collector in the test process. It receives traces by OTLP over HTTP.
package collector

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector stores the exports that it receives.
type Collector struct {
	// URL is the value for OTEL_EXPORTER_OTLP_ENDPOINT.
	URL string

	mu       sync.Mutex
	spans    []*tracev1.Span
	services []string
	raw      []byte
}

// New starts a collector that runs until the test ends.
func New(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.take(r); err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/x-protobuf") // with an empty body
	}))
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// take decodes and stores one export.
func (c *Collector) take(r *http.Request) error {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			return err
		}
		body = unzipped
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var export collectorv1.ExportTraceServiceRequest
	if err := proto.Unmarshal(text, &export); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, text...)
	for _, from := range export.GetResourceSpans() {
		c.services = append(c.services, attribute(from.GetResource().GetAttributes(), "service.name"))
		for _, scope := range from.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	return nil
}

// Services returns the names of the services that have exported spans.
func (c *Collector) Services() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.services)
	return slices.Compact(c.services)
}

// Named returns the spans with this name.
func (c *Collector) Named(name string) []*tracev1.Span {
	return c.all(func(s *tracev1.Span) bool { return s.GetName() == name })
}

// InTrace returns the spans with this name in a trace, whose ID is hexadecimal; an empty name matches all.
func (c *Collector) InTrace(id, name string) []*tracev1.Span {
	return c.all(func(s *tracev1.Span) bool {
		return hex.EncodeToString(s.GetTraceId()) == id && (name == "" || s.GetName() == name)
	})
}

// Children returns the direct children of a span.
func (c *Collector) Children(of *tracev1.Span) []*tracev1.Span {
	return c.all(func(s *tracev1.Span) bool {
		return string(s.GetParentSpanId()) == string(of.GetSpanId()) && string(s.GetTraceId()) == string(
			of.GetTraceId())
	})
}

func (c *Collector) all(which func(*tracev1.Span) bool) []*tracev1.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*tracev1.Span
	for _, s := range c.spans {
		if which(s) {
			found = append(found, s)
		}
	}
	return found
}

// Holds reports whether any export contains the text.
func (c *Collector) Holds(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(string(c.raw), text)
}

// Attribute returns an attribute of a span as a string, or "" if there is none.
func Attribute(s *tracev1.Span, key string) string { return attribute(s.GetAttributes(), key) }

func attribute(all []*commonv1.KeyValue, key string) string {
	for _, a := range all {
		if a.GetKey() != key {
			continue
		}
		if text := a.GetValue().GetStringValue(); text != "" {
			return text
		}
		return strings.TrimPrefix(a.GetValue().String(), "int_value:")
	}
	return ""
}
