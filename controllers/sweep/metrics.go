package sweep

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var sweeps = counter(prometheus.CounterOpts{
	Name: "portico_sweeps_total",
	Help: "Listings that look whether resources are still there. result is ok or error.",
}, "kind", "result")

var missing = counter(prometheus.CounterOpts{
	Name: "portico_sweep_missing_total",
	Help: "Resources that a complete listing did not show; their objects then look for themselves.",
}, "kind")

func counter(o prometheus.CounterOpts, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(o, labels)
	metrics.Registry.MustRegister(c)
	return c
}

func result(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}
