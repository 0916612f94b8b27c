package metric

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portico-platform/portico/api/version"
)

var build = Gauge(Info{
	Name: "portico_build_info", Source: Both,
	Help: "Always 1; the labels tell which version runs, from which commit, built with which Go.",
	Labels: []Label{
		{Name: "version", Of: "the version that runs", Most: 1}, {Name: "commit", Of: "its commit", Most: 1}, {Name: "goversion", Of: "its Go", Most: 1},
	},
})

// Build returns the metric portico_build_info.
func Build() prometheus.Collector {
	i := version.Get()
	build.WithLabelValues(i.Version, i.Commit, i.Go).Set(1)
	return build
}
