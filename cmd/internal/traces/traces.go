// Package traces sends the spans of package tracing to a collector, configured by OpenTelemetry's environment
// variables.
package traces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/api/version"
)

// Help is the paragraph of a usage text about how to enable traces.
const Help = `Traces are off unless OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) names a collector of OpenTelemetry, such as
http://collector:4318; they go there by OTLP over HTTP. OTEL_TRACES_SAMPLER, OTEL_RESOURCE_ATTRIBUTES and their like mean what OpenTelemetry defines.
`

// drain bounds sending the last spans.
const drain = 5 * time.Second

// Start enables tracing if the environment names a collector. stop sends the remaining spans and disables it.
func Start(ctx context.Context, service string, env func(string) string, log *slog.Logger) (stop func(), err error) {
	if !wanted(env) {
		return func() {}, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := env(name); p != "" && p != "http/protobuf" {
			return nil, fmt.Errorf("%s is %q: Portico sends traces by http/protobuf only", name, p)
		}
	}
	to, err := newClient(env)
	if err != nil {
		return nil, fmt.Errorf("prepare to send traces: %w", err)
	}
	exporter, err := otlptrace.New(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("prepare to send traces, as OTEL_EXPORTER_OTLP_ENDPOINT asks: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", service), attribute.String("service.version", version.Get().Version),
	), resource.WithTelemetrySDK(), resource.WithFromEnv()) // the environment takes precedence
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("name the service in traces, as OTEL_RESOURCE_ATTRIBUTES asks: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces cannot be sent", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	tracing.Use(provider)
	return func() {
		tracing.Use(nil)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.WarnContext(ctx, "the last traces were not sent", "error", err)
		}
	}, nil
}

func wanted(env func(string) string) bool {
	if env("OTEL_SDK_DISABLED") == "true" || env("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}
