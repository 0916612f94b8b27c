package pool

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// AWS quotas of one load balancer.
const (
	awsCertificates = 25
	awsRules        = 100
	awsTargetGroups = 100
)

var (
	balancersDesc = metric.Collected(metric.Info{
		Name: "portico_pool_load_balancers", Source: metric.Operator,
		Help: "Shared load balancers (PoolGateways) that there are.",
	})
	balancersLimitDesc = metric.Collected(metric.Info{
		Name: "portico_pool_load_balancers_limit", Source: metric.Operator,
		Help: "Shared load balancers that Portico makes at most.",
	})
	placesDesc = metric.Collected(metric.Info{
		Name: "portico_pool_places", Source: metric.Operator,
		Help: "Places for hostnames on the shared load balancers; when all are taken, Portico makes another load " +
			"balancer.",
		Labels: []metric.Label{{Name: "state", Values: []string{"free", "taken"}}},
	})
	fullestDesc = metric.Collected(metric.Info{
		Name: "portico_pool_fullest_ratio", Source: metric.Operator,
		Help: "How much of what AWS allows one load balancer is used on the fullest of the pool. Portico fills up " +
			"to 0.8 of certificates and target groups, and 0.75 of rules.",
		Labels: []metric.Label{{Name: "resource", Values: []string{"certificates", "rules", "target_groups"}}},
	})
)

// Metrics exports how full the pool is.
var Metrics = engine.NewCacheCollector(collectPool, balancersDesc, balancersLimitDesc, placesDesc, fullestDesc)

func collectPool(ctx context.Context, from client.Reader, out chan<- prometheus.Metric) error {
	list := &v1alpha1.PoolGatewayList{}
	if err := from.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	taken, fullest := 0, map[string]float64{"certificates": 0, "rules": 0, "target_groups": 0}
	for i := range list.Items {
		s := &list.Items[i].Status
		taken += int(s.Hostnames)
		fullest["certificates"] = max(fullest["certificates"], float64(s.Certificates)/awsCertificates)
		fullest["rules"] = max(fullest["rules"], float64(s.Rules)/awsRules)
		fullest["target_groups"] = max(fullest["target_groups"], float64(s.TargetGroups)/awsTargetGroups)
	}
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	gauge(balancersDesc, float64(len(list.Items)))
	gauge(balancersLimitDesc, maxGateways)
	gauge(placesDesc, float64(taken), "taken")
	gauge(placesDesc, float64(len(list.Items)*v1alpha1.PoolHostnames-taken), "free")
	for resource, ratio := range fullest {
		gauge(fullestDesc, ratio, resource)
	}
	return nil
}
