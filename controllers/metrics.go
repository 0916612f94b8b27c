package controllers

import (
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/api/operatorapi"
)

// featureOn tells of parts of the operator that need kinds of others.
var featureOn = metric.Gauge(metric.Info{
	Name: "portico_feature_on", Source: metric.Operator,
	Help:   "1 while a part of the operator runs, 0 while the cluster lacks the kinds that it needs.",
	Labels: []metric.Label{{Name: "feature", Values: []string{operatorapi.FeatureHostnames}}},
})

func init() { //nolint:gochecknoinits // metrics are registered once for the process, as controller-runtime does
	metrics.Registry.MustRegister(featureOn)
}
