package cloud

import (
	"context"
	"errors"
	"maps"
	"slices"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/controllers/engine"
)

// ResultThrottled is the result of calls that AWS throttled.
const ResultThrottled = "throttled"

// Results of calls, in addition to the error classes.
const (
	resultOK       = "ok"
	resultNoAnswer = "no_answer"
)

// classNames are the metric values of error classes. Codes are not in any metric: a service may return any number of
// them.
var classNames = map[errorClass]string{
	transient: "error", notFound: "not_found", throttled: ResultThrottled, busy: "busy", denied: "denied",
	badCredentials: "rejected",
	regionOff:      "rejected", clock: "rejected", unverified: "rejected", notReady: "denied", lacking: "invalid",
	invalid: "invalid", quota: "quota",
}

// mostCalls is about as many operations as the policies in docs/iam allow, times the number of results.
const mostCalls = 1000

// mostServices is how many services the code calls: as many as there are service SDKs in go.mod.
const mostServices = 15

var calls = func() *prometheus.CounterVec {
	results := append(slices.Sorted(maps.Values(classNames)), resultOK, resultNoAnswer)
	return engine.RegisterMetric(metric.Counter(metric.Info{
		Name: "portico_aws_calls_total", Source: metric.Operator, Most: mostCalls,
		Help: "Calls to AWS, each attempt counted.",
		Labels: []metric.Label{
			{Name: "service", Of: "a service of AWS as its SDK calls it, such as Route 53", Most: mostServices},
			{Name: "operation", Of: "an operation of it, such as CreateBucket", Most: 120},
			metric.Outcome(slices.Compact(results)...),
		},
	}))
}()

// countCalls counts every attempt of every call made through one of our aws.Configs.
func countCalls(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("PorticoCountCalls",
		func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
			middleware.DeserializeOutput, middleware.Metadata, error,
		) {
			out, meta, err := next.HandleDeserialize(ctx, in)
			calls.WithLabelValues(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx),
				result(err)).Inc()
			return out, meta, err
		}), middleware.Before)
}

func result(err error) string {
	if err == nil {
		return resultOK
	}
	if _, ok := errors.AsType[smithy.APIError](err); !ok {
		return resultNoAnswer
	}
	return classNames[classOf(err)]
}
