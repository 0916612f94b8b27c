package sweep

import (
	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/controllers/engine"
)

var (
	sweeps = engine.RegisterMetric(metric.Counter(metric.Info{
		Name: "portico_sweeps_total", Source: metric.Operator, Labels: []metric.Label{
			metric.Kind(), metric.Outcome("error", "ok"),
		},
		Help: "Listings that look whether resources are still there.",
	}))
	missing = engine.RegisterMetric(metric.Counter(metric.Info{
		Name: "portico_sweep_missing_total", Source: metric.Operator, Labels: []metric.Label{metric.Kind()},
		Help: "Resources that a complete listing did not show; their objects then look for themselves.",
	}))
)

func result(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}
