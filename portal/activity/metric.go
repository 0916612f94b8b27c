package activity

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portico-platform/portico/api/metric"
)

// What becomes of what is noted.
const (
	written = "written"
	failed  = "failed"
	dropped = "dropped"
)

var told = metric.Counter(metric.Info{
	Name: "portico_portal_activity_total", Source: metric.Portal,
	Help:   "What was to be told as recent activity, by what became of it; dropped is what was too much. The log has it all the same.",
	Labels: []metric.Label{metric.Outcome(written, failed, dropped)},
})

func count(outcome string) { told.WithLabelValues(outcome).Inc() }

// Metrics returns what a Recorder counts, to be registered once.
func Metrics() prometheus.Collector { return told }
