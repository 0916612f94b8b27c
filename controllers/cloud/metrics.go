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

// ResultThrottled is the result of calls that AWS refused because there were too many.
const ResultThrottled = "throttled"

// Results of calls, beside the classes of errors.
const (
	resultOK       = "ok"
	resultNoAnswer = "no_answer"
)

// classNames are the results that stand for classes of errors. The codes themselves are in no metric: a service may
// make up any number of them.
var classNames = map[errorClass]string{
	transient: "error", notFound: "not_found", throttled: ResultThrottled, busy: "busy", denied: "denied", badCredentials: "rejected",
	regionOff: "rejected", clock: "rejected", unverified: "rejected", notReady: "denied", lacking: "invalid",
	invalid: "invalid", quota: "quota",
}

// mostCalls is about as many operations as the policies in docs/iam allow, each with every result.
const mostCalls = 1000

// mostServices is how many services the code calls, which is how many of their SDKs go.mod requires.
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
		return resultOK
	}
	if _, ok := errors.AsType[smithy.APIError](err); !ok {
		return resultNoAnswer
	}
	return classNames[classOf(err)]
}
