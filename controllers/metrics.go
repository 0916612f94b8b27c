package controllers

import (
	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/engine"
)

// featureOn tells of parts of the operator that need kinds of others.
var featureOn = engine.RegisterMetric(metric.Gauge(metric.Info{
	Name: "portico_feature_on", Source: metric.Operator,
	Help:   "1 while a part of the operator runs, 0 while the cluster lacks the kinds that it needs.",
	Labels: []metric.Label{{Name: "feature", Values: []string{operatorapi.FeatureHostnames}}},
}))
