package engine

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// traced records spans until the test ends.
func traced(t *testing.T) *tracetest.InMemoryExporter {
	t.Helper()
	kept := tracetest.NewInMemoryExporter()
	tracing.Use(sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept)))
	t.Cleanup(func() { tracing.Use(nil) })
	return kept
}

func TestAPassIsASpan(t *testing.T) {
	b, spans := newBench(t, nil), traced(t)
	for _, x := range []struct {
		outcome error
		want    string
		code    codes.Code
	}{
		{Blocked("AccessDenied", "hunter2"), "AccessDenied", codes.Unset},
		{errors.New("hunter2"), "Failed", codes.Error},
		{nil, "InSync", codes.Unset},
	} {
		spans.Reset()
		b.pass(x.outcome)
		got := spans.GetSpans()
		if len(got) != 1 || got[0].Name != "pass S3Bucket" || got[0].Status.Code != x.code {
			t.Fatalf("spans %+v", got)
		}
		values := map[string]string{}
		for _, a := range got[0].Attributes {
			values[string(a.Key)] = a.Value.AsString()
		}
		if diff := cmp.Diff(map[string]string{
			"portico.outcome": x.want, "portico.kind": "S3Bucket", "k8s.namespace.name": "n", "portico.name": "b",
		}, values); diff != "" {
			t.Errorf("attributes (-want +got):\n%s", diff)
		}
	}
}

func TestOutcomesThatNoConditionHas(t *testing.T) {
	deleted, paused := &v1alpha1.S3Bucket{}, &v1alpha1.S3Bucket{}
	deleted.DeletionTimestamp = &metav1.Time{Time: noon}
	paused.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	r := &Reconciler[*v1alpha1.S3Bucket]{Kind: "S3Bucket"}
	if got := r.traceOutcome(deleted, false); got != "Released" {
		t.Errorf("a released object: %s", got)
	}
	if got := r.traceOutcome(paused, false); got != "Paused" {
		t.Errorf("a paused object: %s", got)
	}
	deleted.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "BucketNotEmpty"},
	}
	if got := r.traceOutcome(deleted, true); got != "BucketNotEmpty" {
		t.Errorf("an object that waits for its release: %s", got)
	}
}

// The pass of a deleted object does the least work; with tracing off, a span allocates nothing.
func TestNoTracesCostNoAllocation(t *testing.T) {
	gone := &v1alpha1.S3Bucket{}
	gone.DeletionTimestamp = &metav1.Time{Time: noon}
	b := newBench(t, nil)
	without := testing.AllocsPerRun(100, func() { _, _ = b.loop.reconcile(t.Context(), gone) })
	with := testing.AllocsPerRun(100, func() { _, _ = b.loop.Reconcile(t.Context(), gone) })
	if with != without {
		t.Errorf("%v allocations, and %v without the question", with, without)
	}
}
