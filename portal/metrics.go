package portal

import (
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/version/metric"
)

// Count counts the requests to h by method and status. It may be called once.
func Count(h http.Handler) http.Handler {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portico_portal_requests_total", Help: "Requests answered, by method and status; streams count when they end.",
	}, []string{"method", "code"})
	inFlight := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "portico_portal_requests_in_flight", Help: "Requests being answered, open streams included.",
	})
	metrics.Registry.MustRegister(requests, inFlight, metric.Build())
	return promhttp.InstrumentHandlerInFlight(inFlight, promhttp.InstrumentHandlerCounter(requests, h))
}

// Metrics serves the metrics of the portal, and of its Kubernetes client, at /metrics; with profiling, also Go's profiles
// at /debug/pprof/, which tell of the names in memory: for those who may see everything.
func Metrics(profiling bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
	if profiling {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	}
	return mux
}
