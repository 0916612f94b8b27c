//go:build integration

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/test/collector"
	"github.com/portico-platform/portico/test/stack"
)

// traced sends traces to a collector, with OTLP over HTTP, until the test ends.
func traced(t *testing.T) *collector.Collector {
	t.Helper()
	to := collector.New(t)
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(to.URL))
	if err != nil {
		t.Fatal(err)
	}
	tracing.Use(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)))
	t.Cleanup(func() { untraced() })
	return to
}

// below returns the child span with this name, or nil.
func below(to *collector.Collector, of *tracev1.Span, name string) *tracev1.Span {
	for _, s := range to.Children(of) {
		if s.GetName() == name {
			return s
		}
	}
	return nil
}

func TestTracesTellWhatAPassDid(t *testing.T) {
	calm(t) // a bucket that is not visible immediately is read again by another pass
	to := traced(t)
	c := admin(t)
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Wrap(tracing.Transport)
	startOperatorAs(t, cfg, operatorOptions{})
	b := bucketOf(team(t, c), "traced")
	createReady(t, c, b)
	var made *tracev1.Span
	await(t, "the pass that made the bucket", func() (bool, string) {
		passes := to.Named("pass S3Bucket")
		for _, pass := range passes {
			if below(to, pass, "S3 CreateBucket") != nil {
				made = pass
			}
		}
		return made != nil, fmt.Sprintf("%d passes", len(passes))
	})
	for key, want := range map[string]string{
		"k8s.namespace.name": b.Namespace, "portico.name": b.Name,
		"portico.kind": "S3Bucket", "portico.outcome": "InSync",
	} {
		if got := collector.Attribute(made, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	call := below(to, made, "S3 CreateBucket")
	for key, want := range map[string]string{
		"rpc.service": "S3", "rpc.method": "CreateBucket",
		"cloud.region": "eu-west-1", "error.type": "",
	} {
		if got := collector.Attribute(call, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if write := below(to, made, "kubernetes PATCH"); write == nil ||
		!strings.HasSuffix(collector.Attribute(write, "url.path"), "/s3buckets/"+b.Name) &&
			!strings.HasSuffix(collector.Attribute(write, "url.path"), "/status") {
		t.Errorf("the writes to Kubernetes of the pass: %v", write)
	}
	for _, text := range []string{"secretAccessKey", "AWS4-HMAC", "X-Amz-Security-Token", "Bearer "} {
		if to.Holds(text) {
			t.Errorf("the traces hold %q", text)
		}
	}
}

func TestTracesOfThePortalReachKubernetes(t *testing.T) {
	to := traced(t)
	r := startPortal(t, "", sessionKeys(t))
	const trace = "0af7651916cd43dd8448eb211c80319c"
	token, name := userToken(t, "payments-dev"), unique("traced")
	body := bucketBody(name, "")
	body["metadata"].(map[string]any)["annotations"] = map[string]any{"note": "hunter1"}
	r.call(t, token, http.MethodPost, "/namespaces/payments/s3buckets?dryRun=All", body, "Traceparent", "00-"+trace+
		"-b7ad6b7169203331-01").want(t, http.StatusOK)
	var asked []*tracev1.Span
	await(t, "the request's span", func() (bool, string) {
		asked = to.InTrace(trace, "POST /api/v1/namespaces/{namespace}/s3buckets")
		return len(asked) == 1, fmt.Sprint(to.InTrace(trace, ""))
	})
	if got := collector.Attribute(asked[0], "http.response.status_code"); got != "200" {
		t.Errorf("its status is %s", got)
	}
	paths := map[string]bool{}
	for _, s := range to.Children(asked[0]) {
		paths[s.GetName()+" "+collector.Attribute(s, "url.path")] = true
	}
	if want := "kubernetes POST /apis/portico.dev/v1alpha1/namespaces/payments/s3buckets"; !paths[want] {
		t.Errorf("below the request there is no %s, but %v", want, paths)
	}
	for _, text := range []string{"hunter1", "dryRun", token, "Bearer "} {
		if to.Holds(text) {
			t.Errorf("the traces hold %q", text)
		}
	}
}
