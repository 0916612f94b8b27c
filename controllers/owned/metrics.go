package owned

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var repaired = func() *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portico_owned_repaired_total",
		Help: "Kubernetes objects that were changed outside Portico and brought back, by the owner's kind and theirs.",
	}, []string{"kind", "object"})
	metrics.Registry.MustRegister(c)
	return c
}()
