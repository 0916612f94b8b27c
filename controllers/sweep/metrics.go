package sweep

import (
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/metric"
)

var (
	sweeps = metric.Counter(metric.Info{
		Name: "portico_sweeps_total", Source: metric.Operator, Labels: []metric.Label{metric.Kind(), metric.Outcome("error", "ok")},
		Help: "Listings that look whether resources are still there.",
	})
	missing = metric.Counter(metric.Info{
		Name: "portico_sweep_missing_total", Source: metric.Operator, Labels: []metric.Label{metric.Kind()},
		Help: "Resources that a complete listing did not show; their objects then look for themselves.",
	})
)

func init() { //nolint:gochecknoinits // metrics are registered once for the process, as controller-runtime does
	metrics.Registry.MustRegister(sweeps, missing)
}

func result(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}
