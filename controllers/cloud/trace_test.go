package cloud

import (
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/portico-platform/portico/api/tracing"
)

func TestACallIsASpanOfWhatWasCalledAndHowItEnded(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	tracing.Use(sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept)))
	t.Cleanup(func() { tracing.Use(nil) })
	s := &stsServer{}
	sessions, p := sessionsOver(t, s)
	if _, err := sessions.For(t.Context(), p, ""); err != nil {
		t.Fatal(err)
	}
	s.code.Store("InvalidClientTokenId")
	if _, err := sessions.Verify(t.Context(), p); err == nil {
		t.Fatal("verified with keys that AWS refuses")
	}
	spans := kept.GetSpans()
	if len(spans) != 2 {
		t.Fatalf("%d spans", len(spans))
	}
	for i, want := range []struct {
		code  codes.Code
		error string
	}{{codes.Unset, ""}, {codes.Error, "InvalidClientTokenId"}} {
		values := map[string]string{}
		for _, a := range spans[i].Attributes {
			values[string(a.Key)] = a.Value.AsString()
			if strings.Contains(a.Value.AsString(), "no") && a.Key != "rpc.service" {
				t.Errorf("%s is %s: AWS's message is in the trace", a.Key, a.Value.AsString())
			}
		}
		if spans[i].Name != "STS GetCallerIdentity" || values["cloud.region"] != "eu-west-1" ||
			values["aws.request_id"] != "r-1" ||
			values["error.type"] != want.error || spans[i].Status.Code != want.code {
			t.Errorf("span %s %v with %v", spans[i].Name, spans[i].Status, values)
		}
	}
}

// While tracing is off, no middleware is added.
func TestCallsAreNotTracedWhileThatIsOff(t *testing.T) {
	if n := len(apiOptions()); n != 2 {
		t.Errorf("%d of them, and only the count of calls and the bound of answers are wanted", n)
	}
}
