// Package metric shows Prometheus what the checks of an installation found.
package metric

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/config/check"
)

var problems = metric.Collected(metric.Info{
	Name: "portico_installation_problem", Source: metric.Both,
	Help:   "How many problems this replica knows of in what the cluster must have; not there before the first look.",
	Labels: []metric.Label{{Name: "what", Values: []string{"crds", "identityprovider", "impersonation", "policies"}}},
})

// Problems returns the metric portico_installation_problem of what m found.
func Problems(m *check.Monitor) prometheus.Collector { return collector{m} }

type collector struct{ monitor *check.Monitor }

// Describe implements prometheus.Collector.
func (c collector) Describe(out chan<- *prometheus.Desc) { out <- problems }

// Collect implements prometheus.Collector.
func (c collector) Collect(out chan<- prometheus.Metric) {
	for _, r := range c.monitor.Results() {
		if r.Known {
			out <- prometheus.MustNewConstMetric(problems, prometheus.GaugeValue, float64(len(r.Problems)), r.Name)
		}
	}
}
