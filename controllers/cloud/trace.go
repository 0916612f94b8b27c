package cloud

import (
	"cmp"
	"context"
	"errors"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/portico-platform/portico/api/tracing"
)

// apiOptions returns the middleware of all our aws.Configs: calls are counted, and traced if tracing is on.
func apiOptions() []func(*middleware.Stack) error {
	all := []func(*middleware.Stack) error{countCalls, boundAnswers}
	if tracing.On() {
		all = append(all, traceCalls)
	}
	return all
}

// traceCalls adds a span for each call, including its tries and the wait for its turn. The span has the operation and
// the outcome: no parameters, and of the response only error code and request ID.
func traceCalls(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("PorticoTraceCalls",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error,
		) {
			service, operation := awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx)
			ctx, span := tracing.Start(ctx, service+" "+operation, trace.SpanKindClient,
				attribute.String("rpc.system", "aws-api"), attribute.String("rpc.service", service),
				attribute.String("rpc.method", operation),
				attribute.String("cloud.region", awsmiddleware.GetRegion(ctx)))
			defer span.End()
			out, meta, err := next.HandleInitialize(ctx, in)
			if id := requestID(meta, err); id != "" {
				span.SetAttributes(attribute.String("aws.request_id", id))
			}
			if err != nil {
				code := cmp.Or(Code(err), result(err))
				span.SetAttributes(attribute.String("error.type", code))
				span.SetStatus(codes.Error, code)
			}
			return out, meta, err
		}), middleware.After)
}

// requestID returns AWS's ID of the request, for success or failure.
func requestID(meta middleware.Metadata, err error) string {
	if failed, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return failed.ServiceRequestID()
	}
	id, _ := awsmiddleware.GetRequestIDMetadata(meta)
	return id
}
