// Package tracing makes the spans of OpenTelemetry that the operator and the portal have. It is off until Use, and then
// costs one atomic read where a span would begin: callers ask On before they make anything for one.
//
// A span says what was done to which object and how it ended. It holds no keys, no bodies, no queries, and nothing that
// a user has entered but names of objects.
package tracing

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

var tracer atomic.Pointer[trace.Tracer]

// Use sets the provider of spans; nil switches them off. Connections opened while it was off stay without spans, so
// call it first.
func Use(p trace.TracerProvider) {
	if p == nil {
		tracer.Store(nil)
		return
	}
	t := p.Tracer("github.com/portico-platform/portico")
	tracer.Store(&t)
}

// On reports whether spans are made.
func On() bool { return tracer.Load() != nil }

// Start begins a span within the one of ctx, if there is one. It is for callers that have asked On; if that has changed
// since, the span is one that records nothing.
func Start(ctx context.Context, name string, kind trace.SpanKind, attributes ...attribute.KeyValue) (
	context.Context, trace.Span,
) {
	t := tracer.Load()
	if t == nil {
		return ctx, trace.SpanFromContext(context.Background())
	}
	return (*t).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
}

// Pass begins the span of a pass over one object. End it with the outcome.
func Pass(ctx context.Context, kind, namespace, name string) (context.Context, trace.Span) {
	return Start(ctx, "pass "+kind, trace.SpanKindInternal,
		attribute.String("portico.kind", kind), attribute.String("k8s.namespace.name", namespace),
		attribute.String("portico.name", name))
}

// EndPass ends the span with the reason of the Ready condition. The error's text is left out: logs and status have it.
func EndPass(span trace.Span, reason string, failed bool) {
	span.SetAttributes(attribute.String("portico.outcome", reason))
	if failed {
		span.SetStatus(codes.Error, reason)
	}
	span.End()
}
