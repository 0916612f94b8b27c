package cloud

import (
	"context"
	"errors"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var calls = func() *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portico_aws_calls_total",
		Help: "Calls to AWS, each attempt counted. result is ok, the service's error code, or error where no answer came.",
	}, []string{"service", "operation", "result"})
	metrics.Registry.MustRegister(c)
	return c
}()

// countCalls counts every attempt of every call that is made through an aws.Config of ours.
func countCalls(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("PorticoCountCalls",
		func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
			out, meta, err := next.HandleDeserialize(ctx, in)
			calls.WithLabelValues(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx), result(err)).Inc()
			return out, meta, err
		}), middleware.Before)
}

func result(err error) string {
	if err == nil {
		return "ok"
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return "error"
}
