package cloud

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		got := []string{spans[i].Name, values["cloud.region"], values["aws.request_id"], values["error.type"]}
		if diff := cmp.Diff([]string{"STS GetCallerIdentity", "eu-west-1", "r-1", want.error}, got); diff != "" {
			t.Errorf("name, region, request ID, error (-want +got):\n%s", diff)
		}
		if spans[i].Status.Code != want.code {
			t.Errorf("status = %v, want %v", spans[i].Status, want.code)
		}
	}
}

// While tracing is off, no middleware is added.
func TestCallsAreNotTracedWhileThatIsOff(t *testing.T) {
	if n := len(apiOptions()); n != 2 {
		t.Errorf("%d of them, and only the count of calls and the bound of answers are wanted", n)
	}
}
