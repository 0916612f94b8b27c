package portal

import (
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/portal/activity"
)

var (
	requests = metric.Counter(metric.Info{
		Name: "portico_portal_requests_total", Source: metric.Portal,
		Help: "Requests answered, by method and status; streams count when they end.",
		Labels: []metric.Label{
			{Name: "method", Values: []string{"connect", "delete", "get", "head", "notify", "options", "patch", "post", "put", "trace", "unknown"}},
			{Name: "code", Of: "a status of HTTP that the portal answers", Most: 25},
		},
	})
	inFlight = metric.Gauge(metric.Info{
		Name: "portico_portal_requests_in_flight", Source: metric.Portal,
		Help: "Requests being answered, open streams included.",
	})
	readiness = metric.Collected(metric.Info{
		Name: "portico_portal_ready", Source: metric.Portal,
		Help: "1 while /readyz says that the portal is ready, else 0.",
	})
)

// Count counts the requests to h by method and status, and exports whether ready returns nil. It can be called once.
func Count(h http.Handler, ready func() error) http.Handler {
	metrics.Registry.MustRegister(requests, inFlight, readyGauge(ready), activity.Metrics(), metric.Build())
	return promhttp.InstrumentHandlerInFlight(inFlight.WithLabelValues(), promhttp.InstrumentHandlerCounter(
		requests, h))
}

// readyGauge calls ready at each scrape. It implements prometheus.Collector.
type readyGauge func() error

// Describe implements prometheus.Collector.
func (readyGauge) Describe(out chan<- *prometheus.Desc) { out <- readiness }

// Collect implements prometheus.Collector.
func (r readyGauge) Collect(out chan<- prometheus.Metric) {
	value := 1.0
	if r() != nil {
		value = 0
	}
	out <- prometheus.MustNewConstMetric(readiness, prometheus.GaugeValue, value)
}

// Metrics serves the metrics of the portal, and of its Kubernetes client, at /metrics; with profiling, also Go's
// profiles at /debug/pprof/, which reveal names in memory: only for admins.
func Metrics(profiling bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
	if profiling {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	}
	return mux
}
