package tracing

import (
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// w3c reads and writes the header traceparent.
var w3c propagation.TraceContext

// Transport passes the span of a request's context on to Kubernetes, and makes a span for each write. While tracing is
// off it returns next itself.
func Transport(next http.RoundTripper) http.RoundTripper {
	if !On() {
		return next
	}
	return transport{next}
}

type transport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper. Requests without a span, such as watches and events, are sent unchanged.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return t.next.RoundTrip(r)
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		r = r.Clone(ctx)
		w3c.Inject(ctx, propagation.HeaderCarrier(r.Header))
		return t.next.RoundTrip(r)
	}
	ctx, span := Start(ctx, "kubernetes "+method(r), trace.SpanKindClient,
		attribute.String("http.request.method", method(r)), attribute.String("url.path", r.URL.Path))
	defer span.End()
	r = r.Clone(ctx)
	w3c.Inject(ctx, propagation.HeaderCarrier(r.Header))
	resp, err := t.next.RoundTrip(r)
	switch {
	case err != nil:
		span.SetStatus(codes.Error, "no answer")
	default:
		ended(span, resp.StatusCode, http.StatusBadRequest)
	}
	return resp, err
}

// Route records the pattern of a request's route, after the response.
type Route func(*http.Request) string

// Requests creates a span for each request, within the trace that the request names. It uses only the IDs of the
// request's trace headers, and the pattern instead of the path. While tracing is off it returns next itself.
func Requests(next http.Handler, route Route) http.Handler {
	if !On() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := w3c.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		if from := trace.SpanContextFromContext(ctx); from.IsValid() {
			ctx = trace.ContextWithRemoteSpanContext(ctx, from.WithTraceState(trace.TraceState{})) // of any text
		}
		ctx, span := Start(ctx, method(r), trace.SpanKindServer, attribute.String("http.request.method", method(r)))
		defer span.End()
		out := &answer{ResponseWriter: w, code: http.StatusOK}
		r = r.WithContext(ctx)
		next.ServeHTTP(out, r)
		if pattern := route(r); pattern != "" {
			span.SetName(method(r) + " " + pattern)
			span.SetAttributes(attribute.String("http.route", pattern))
		}
		ended(span, out.code, http.StatusInternalServerError)
	})
}

// ended notes the status, which is an error from the given one on.
func ended(span trace.Span, status, wrong int) {
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= wrong {
		span.SetStatus(codes.Error, http.StatusText(status))
	}
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}

// method returns one of HTTP's, and not what somebody made up.
func method(r *http.Request) string {
	if slices.Contains(methods, r.Method) {
		return r.Method
	}
	return "_OTHER"
}

// answer remembers the status.
type answer struct {
	http.ResponseWriter
	code  int
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) {
	if !a.begun && code >= http.StatusOK {
		a.code, a.begun = code, true
	}
	a.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(b)
}

// Flush lets streams through.
func (a *answer) Flush() {
	a.begun = true
	if f, ok := a.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap implements what http.ResponseController looks for.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
