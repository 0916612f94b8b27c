package inspect

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/inspect"
	"github.com/portico-platform/portico/controllers/cloud"
)

// counted is where a metric goes, by the label that says whose it is.
type counted struct {
	of  string
	add func(w *work, whose string, m *dto.Metric)
}

// work gathers what the metrics say, by name.
type work struct {
	controllers map[string]*inspect.Controller
	services    map[string]*inspect.Service
}

// sources are the metrics of controller-runtime, and of package cloud, that are told.
var sources = map[string]counted{
	"controller_runtime_reconcile_total": {"controller", func(w *work, of string, m *dto.Metric) {
		w.controller(of).Passes += number(m)
	}},
	"controller_runtime_reconcile_errors_total": {"controller", func(w *work, of string, m *dto.Metric) {
		w.controller(of).Failures += number(m)
	}},
	"controller_runtime_active_workers": {"controller", func(w *work, of string, m *dto.Metric) {
		w.controller(of).Running += number(m)
	}},
	"controller_runtime_max_concurrent_reconciles": {"controller", func(w *work, of string, m *dto.Metric) {
		w.controller(of).Workers += number(m)
	}},
	"workqueue_depth": {"controller", func(w *work, of string, m *dto.Metric) { // one for each priority
		w.controller(of).Queued += number(m)
	}},
	"workqueue_longest_running_processor_seconds": {"controller", func(w *work, of string, m *dto.Metric) {
		c := w.controller(of)
		c.LongestSeconds = max(c.LongestSeconds, value(m))
	}},
	"portico_aws_calls_total": {"service", func(w *work, of string, m *dto.Metric) {
		s, n, result := w.service(of), number(m), label(m, "result")
		s.Calls += n
		if result != "ok" {
			s.Failures += n
		}
		if result == cloud.ResultThrottled {
			s.Throttled += n
		}
	}},
}

func (w *work) controller(name string) *inspect.Controller {
	if w.controllers[name] == nil {
		w.controllers[name] = &inspect.Controller{Name: name}
	}
	return w.controllers[name]
}

func (w *work) service(name string) *inspect.Service {
	if w.services[name] == nil {
		w.services[name] = &inspect.Service{Name: name}
	}
	return w.services[name]
}

// workOf reads the metrics. Families that could be gathered count even if others could not.
func workOf(from prometheus.Gatherer, since time.Time) (inspect.Work, error) {
	w := &work{controllers: map[string]*inspect.Controller{}, services: map[string]*inspect.Service{}}
	families, err := from.Gather()
	for _, f := range families {
		source, ok := sources[f.GetName()]
		if !ok {
			continue
		}
		for _, m := range f.GetMetric() {
			if whose := label(m, source.of); whose != "" {
				source.add(w, whose, m)
			}
		}
	}
	out := inspect.Work{Since: since.UTC(), Controllers: []inspect.Controller{}, Services: []inspect.Service{}}
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

func (v views) tellWork(w http.ResponseWriter, r *http.Request) {
	out, err := workOf(v.metrics, v.since)
	if err != nil {
		log.FromContext(r.Context()).Error(err, "some metrics could not be gathered")
	}
	answer(w, out)
}
