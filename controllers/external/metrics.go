package external

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var driftRepaired = func() *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portico_drift_repaired_total",
		Help: "Changes made outside Portico that were put right, one for each call it took.",
	}, []string{"kind"})
	metrics.Registry.MustRegister(c)
	return c
}()
