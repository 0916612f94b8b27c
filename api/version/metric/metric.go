// Package metric shows the version of a binary to Prometheus.
package metric

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portico-platform/portico/api/version"
)

// Build returns the metric portico_build_info, which is always 1; its labels tell what runs.
func Build() prometheus.Collector {
	i := version.Get()
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "portico_build_info", Help: "Always 1; the labels tell which version runs, from which commit, built with which Go.",
		ConstLabels: prometheus.Labels{"version": i.Version, "commit": i.Commit, "goversion": i.Go},
	}, func() float64 { return 1 })
}
