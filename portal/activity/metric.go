package activity

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portico-platform/portico/api/metric"
)

// Outcomes of recorded actions.
const (
	written = "written"
	failed  = "failed"
	dropped = "dropped"
)

var told = metric.Counter(metric.Info{
	Name: "portico_portal_activity_total", Source: metric.Portal,
	Help: "Entries of recent activity, by outcome; dropped are those beyond the limit, which are in the log all " +
		"the same.",
	Labels: []metric.Label{metric.Outcome(written, failed, dropped)},
})

func count(outcome string) { told.WithLabelValues(outcome).Inc() }

// Metrics returns the metrics of a Recorder, to be registered once.
func Metrics() prometheus.Collector { return told }
