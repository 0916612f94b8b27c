package operatorapi

import (
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/portico-platform/portico/api/operatorapi"
)

func counterOf(t *testing.T, r *prometheus.Registry, name string, labels []string, rows map[[3]string]float64) {
	t.Helper()
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: name}, labels)
	r.MustRegister(v)
	for values, n := range rows {
		v.WithLabelValues(values[:len(labels)]...).Set(n)
	}
}

func measured(t *testing.T) *prometheus.Registry {
	t.Helper()
	r := prometheus.NewRegistry()
	one := []string{"controller"}
	counterOf(t, r, "controller_runtime_reconcile_total", []string{"controller", "result"}, map[[3]string]float64{
		{"s3bucket", "success"}: 5, {"s3bucket", "error"}: 2, {"awsprovider", "success"}: 1,
	})
	counterOf(t, r, "controller_runtime_reconcile_errors_total", one, map[[3]string]float64{{"s3bucket"}: 2})
	counterOf(t, r, "controller_runtime_active_workers", one, map[[3]string]float64{{"s3bucket"}: 3})
	counterOf(t, r, "controller_runtime_max_concurrent_reconciles", one, map[[3]string]float64{{"s3bucket"}: 20})
	counterOf(t, r, "workqueue_longest_running_processor_seconds", one, map[[3]string]float64{{"s3bucket"}: 1.5})
	counterOf(t, r, "workqueue_depth", []string{"controller", "priority"}, map[[3]string]float64{
		{"s3bucket", "0"}: 4, {"s3bucket", "-100"}: 6,
	})
	counterOf(t, r, "portico_aws_calls_total", []string{"service", "operation", "result"}, map[[3]string]float64{
		{"S3", "HeadBucket", "ok"}: 7, {"S3", "HeadBucket", "not_found"}: 2, {"Route 53", "GetChange", "throttled"}: 3,
		{"Route 53", "GetChange", "no_answer"}: 1,
	})
	counterOf(t, r, "something_else", one, map[[3]string]float64{{"s3bucket"}: 9})
	counterOf(t, r, "portico_resources", []string{"kind"}, map[[3]string]float64{{"S3Bucket"}: 9})
	return r
}

func TestWorkIsToldByTheMetrics(t *testing.T) {
	since := time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("", 3600))
	want := operatorapi.Activity{
		Since: since.UTC(),
		Controllers: []operatorapi.Controller{
			{Name: "awsprovider", Passes: 1},
			{Name: "s3bucket", Queued: 10, Running: 3, Workers: 20, Passes: 7, Failures: 2, LongestSeconds: 1.5},
		},
		Services: []operatorapi.Service{
			{Name: "Route 53", Calls: 4, Failures: 4, Throttled: 3},
			{Name: "S3", Calls: 9, Failures: 2},
		},
	}
	h := newHandlers(Source{Metrics: measured(t), Now: func() time.Time { return since }}).routes()
	var got operatorapi.Activity
	if status := get(t, h, operatorapi.ActivityPath, &got); status != http.StatusOK || !reflect.DeepEqual(got, want) {
		t.Errorf("%d\n%+v, want\n%+v", status, got, want)
	}
}

// broken gathers what it can, and returns an error about the rest.
type broken struct{ prometheus.Gatherer }

func (b broken) Gather() ([]*dto.MetricFamily, error) {
	all, _ := b.Gatherer.Gather()
	return all, errors.New("one collector failed")
}

func TestWhatCouldBeGatheredIsToldThoughSomethingElseCouldNot(t *testing.T) {
	var got operatorapi.Activity
	h := newHandlers(Source{Metrics: broken{measured(t)}, Now: time.Now}).routes()
	if status := get(t, h, operatorapi.ActivityPath, &got); status != http.StatusOK || len(got.Controllers) != 2 {
		t.Errorf("%d %+v", status, got)
	}
}

func TestAnOperatorThatHasDoneNothingYet(t *testing.T) {
	s := Source{Metrics: prometheus.NewRegistry(), Now: func() time.Time { return time.Time{} }}
	w := call(newHandlers(s).routes(), operatorapi.ActivityPath, "")
	if want := `{"since":"0001-01-01T00:00:00Z","controllers":[],"services":[]}` + "\n"; w.Code != http.StatusOK ||
		w.Body.String() != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
