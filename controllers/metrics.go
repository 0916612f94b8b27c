package controllers

import (
	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/engine"
)

// featureOn reports which optional parts of the operator run.
var featureOn = engine.RegisterMetric(metric.Gauge(metric.Info{
	Name: "portico_feature_on", Source: metric.Operator,
	Help:   "1 while a part of the operator runs, 0 while the cluster lacks the kinds that it needs.",
	Labels: []metric.Label{{Name: "feature", Values: []string{operatorapi.FeatureHostnames}}},
}))
