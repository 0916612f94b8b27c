package hostname

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	requested = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portico_certificate_requests_total",
		Help: "Certificates requested from ACM, by account. AWS allows some thousand a year.",
	}, []string{"account"})
	expires = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "portico_certificate_not_after_seconds",
		Help: "When the certificate of a hostname ends unless ACM renews it, as a Unix time.",
	}, []string{"namespace", "name"})
)

func init() { //nolint:gochecknoinits // metrics are registered once for the process, as controller-runtime does
	metrics.Registry.MustRegister(requested, expires)
}
