package engine

import (
	"context"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/version/metric"
)

var timeToReady = register(prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name:    "portico_time_to_ready_seconds",
	Help:    "Time from the creation of an object until it was Ready for the first time.",
	Buckets: []float64{.25, .5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 3600},
}, []string{"kind"}))

var driftRepaired = register(prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "portico_drift_repaired_total",
	Help: "Changes made outside Portico that were put right, one for each write it took.",
}, []string{"kind"}))

// resources counts objects when it is scraped, from the cache: no bookkeeping that could drift.
var resources = register(&resourceCollector{
	desc: prometheus.NewDesc("portico_resources", "Objects by kind, namespace and readiness.",
		[]string{"kind", "namespace", "ready"}, nil),
	kinds: map[string]counter{},
})

var _ = register(metric.Build())

// register makes c part of controller-runtime's registry, once per process.
func register[C prometheus.Collector](c C) C {
	metrics.Registry.MustRegister(c)
	return c
}

type counter func(context.Context, func(namespace string, ready bool)) error

type resourceCollector struct {
	desc  *prometheus.Desc
	mu    sync.Mutex
	kinds map[string]counter
}

// countResources makes the collector count gvk's objects in mgr's cache; a later manager takes the place of an
// earlier one.
func countResources(mgr ctrl.Manager, gvk schema.GroupVersionKind) {
	resources.mu.Lock()
	defer resources.mu.Unlock()
	resources.kinds[gvk.Kind] = func(ctx context.Context, each func(string, bool)) error {
		list, err := mgr.GetScheme().New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err != nil {
			return err
		}
		if err := mgr.GetCache().List(ctx, list.(client.ObjectList), client.UnsafeDisableDeepCopy); err != nil {
			return err
		}
		return meta.EachListItem(list, func(o runtime.Object) error {
			obj := o.(Object)
			each(obj.GetNamespace(), obj.Common().Ready)
			return nil
		})
	}
}

// Describe implements prometheus.Collector.
func (c *resourceCollector) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

// Collect implements prometheus.Collector. A cache that is not running counts nothing.
func (c *resourceCollector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, count := range c.kinds {
		n := map[[2]string]float64{}
		err := count(context.Background(), func(namespace string, ready bool) {
			n[[2]string{namespace, strconv.FormatBool(ready)}]++
		})
		if err != nil {
			continue
		}
		for key, value := range n {
			out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, value, kind, key[0], key[1])
		}
	}
}
