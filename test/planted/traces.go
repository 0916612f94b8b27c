package planted

import (
	"context"
	"fmt"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Spans stores every span. It implements go.opentelemetry.io/otel/sdk/trace.SpanExporter.
type Spans struct{ *Search }

// ExportSpans stores the spans' content.
func (s Spans) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, span := range spans {
		s.Write("traces", span.Name(), fmt.Sprintf("%v %v %v", span.Attributes(), span.Status(), span.Events()))
	}
	return nil
}

// Shutdown does nothing, because the spans are already on disk.
func (Spans) Shutdown(context.Context) error { return nil }
