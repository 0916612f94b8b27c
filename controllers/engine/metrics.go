package engine

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/metric"
)

var timeToReady = RegisterMetric(metric.Histogram(metric.Info{
	Name: "portico_time_to_ready_seconds", Source: metric.Operator, Labels: []metric.Label{metric.Kind()},
	Help:    "Time from the creation of an object until it was Ready for the first time.",
	Buckets: []float64{.25, .5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 3600},
}))

var driftRepaired = RegisterMetric(metric.Counter(metric.Info{
	Name: "portico_drift_repaired_total", Source: metric.Operator, Labels: []metric.Label{metric.Kind()},
	Help: "Changes made outside Portico that were put right, one for each write it took.",
}))

var historyFailures = RegisterMetric(metric.Counter(metric.Info{
	Name: "portico_history_failures_total", Source: metric.Operator, Labels: []metric.Label{metric.Kind()},
	Help: "Times that a version of an object could not be written into its history; each pass tries again.",
}))

var _ = RegisterMetric(metric.Build())

// RegisterMetric registers c with controller-runtime's registry, once per process.
func RegisterMetric[C prometheus.Collector](c C) C {
	metrics.Registry.MustRegister(c)
	return c
}
