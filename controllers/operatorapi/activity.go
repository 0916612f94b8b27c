package operatorapi

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
)

// metricSink adds a metric to the activity of the controller or service that its label names.
type metricSink struct {
	of  string
	add func(w *activity, whose string, m *dto.Metric)
}

// activity collects the values of metrics, by controller and by service.
type activity struct {
	controllers map[string]*operatorapi.Controller
	services    map[string]*operatorapi.Service
}

// metricSinks are the metrics of controller-runtime and of package cloud that are reported.
var metricSinks = map[string]metricSink{
	"controller_runtime_reconcile_total": countOf(func(c *operatorapi.Controller) *int64 {
		return &c.Passes
	}),
	"controller_runtime_reconcile_errors_total": countOf(func(c *operatorapi.Controller) *int64 {
		return &c.Failures
	}),
	"controller_runtime_active_workers": countOf(func(c *operatorapi.Controller) *int64 {
		return &c.Running
	}),
	"controller_runtime_max_concurrent_reconciles": countOf(func(c *operatorapi.Controller) *int64 {
		return &c.Workers
	}),
	"workqueue_depth": countOf(func(c *operatorapi.Controller) *int64 { return &c.Queued }), // one for each priority
	"workqueue_longest_running_processor_seconds": {"controller", func(a *activity, of string, m *dto.Metric) {
		c := a.controller(of)
		c.LongestSeconds = max(c.LongestSeconds, value(m))
	}},
	"portico_aws_calls_total": {"service", func(a *activity, of string, m *dto.Metric) {
		s, n, result := a.service(of), number(m), label(m, "result")
		s.Calls += n
		if result != "ok" {
			s.Failures += n
		}
		if result == cloud.ResultThrottled {
			s.Throttled += n
		}
	}},
}

// countOf returns a sink that adds a controller's metric to a field.
func countOf(field func(*operatorapi.Controller) *int64) metricSink {
	return metricSink{"controller", func(a *activity, of string, m *dto.Metric) {
		*field(a.controller(of)) += number(m)
	}}
}

func (a *activity) controller(name string) *operatorapi.Controller {
	if a.controllers[name] == nil {
		a.controllers[name] = &operatorapi.Controller{Name: name}
	}
	return a.controllers[name]
}

func (a *activity) service(name string) *operatorapi.Service {
	if a.services[name] == nil {
		a.services[name] = &operatorapi.Service{Name: name}
	}
	return a.services[name]
}

// gatherActivity reads the metrics. If some families cannot be gathered, it uses the others.
func gatherActivity(from prometheus.Gatherer, since time.Time) (operatorapi.Activity, error) {
	w := &activity{controllers: map[string]*operatorapi.Controller{}, services: map[string]*operatorapi.Service{}}
	families, err := from.Gather()
	for _, f := range families {
		source, ok := metricSinks[f.GetName()]
		if !ok {
			continue
		}
		for _, m := range f.GetMetric() {
			if whose := label(m, source.of); whose != "" {
				source.add(w, whose, m)
			}
		}
	}
	out := operatorapi.Activity{
		Since: since.UTC(), Controllers: []operatorapi.Controller{},
		Services: []operatorapi.Service{},
	}
	for _, name := range slices.Sorted(maps.Keys(w.controllers)) {
		out.Controllers = append(out.Controllers, *w.controllers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(w.services)) {
		out.Services = append(out.Services, *w.services[name])
	}
	return out, err
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

func value(m *dto.Metric) float64 {
	return cmp.Or(m.GetCounter().GetValue(), m.GetGauge().GetValue())
}

func number(m *dto.Metric) int64 { return int64(value(m)) }

func (h *handlers) getActivity(r *http.Request) (any, error) {
	out, err := gatherActivity(h.Metrics, h.since)
	if err != nil {
		log.FromContext(r.Context()).Error(err, "some metrics could not be gathered")
	}
	return out, nil
}
