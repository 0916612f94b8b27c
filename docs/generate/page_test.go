package main

import (
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/metric"
	"github.com/portico-platform/portico/config/check"
	installation "github.com/portico-platform/portico/config/check/metric"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/portal"
)

func TestThePageIsAsGenerated(t *testing.T) {
	is, err := os.ReadFile("../metrics.md")
	if err != nil || string(is) != string(page()) {
		t.Errorf("docs/metrics.md is not what the metrics are (%v): run make generate", err)
	}
}

// registered returns Portico's own metrics that this program would show, each with its labels, as "name[label label]".
func registered(t *testing.T) []string {
	t.Helper()
	metrics.Registry.Unregister(metric.Build()) // both binaries have it, and this is both
	portal.Count(nil, func() error { return nil })
	metrics.Registry.MustRegister(installation.Problems(check.NewMonitor(slog.New(slog.DiscardHandler))))
	described := make(chan *prometheus.Desc, 1000)
	metrics.Registry.(*prometheus.Registry).Describe(described)
	close(described)
	parts := regexp.MustCompile(`^Desc\{fqName: "(portico_\w+)", .*constLabels: \{\}, variableLabels: \{(.*)\}\}$`)
	var all []string
	for d := range described {
		if found := parts.FindStringSubmatch(d.String()); found != nil {
			all = append(all, found[1]+"["+strings.ReplaceAll(found[2], ",", " ")+"]")
		} else if strings.Contains(d.String(), "portico") {
			t.Errorf("%s is no metric as package metric declares them", d)
		}
	}
	slices.Sort(all)
	return all
}

// TestNoMetricIsMissingOnThePage compares what is registered with what is declared.
func TestNoMetricIsMissingOnThePage(t *testing.T) {
	var want []string
	for _, m := range metric.Declared() {
		want = append(want, m.Name+"["+strings.Join(m.LabelNames(), " ")+"]")
	}
	if got := registered(t); len(got) < 20 || !slices.Equal(got, want) {
		t.Errorf("registered are\n%s\nand declared by package metric\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestNamesAreAsPrometheusWantsThem asks its linter.
func TestNamesAreAsPrometheusWantsThem(t *testing.T) {
	r := prometheus.NewRegistry()
	for _, m := range metric.Declared() {
		r.MustRegister(sample(&m))
	}
	families, err := r.Gather()
	if err != nil || len(families) != len(metric.Declared()) {
		t.Fatalf("%d of %d metrics, %v", len(families), len(metric.Declared()), err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// sample returns a collector with one series of the metric.
func sample(m *metric.Info) prometheus.Collector {
	labels := prometheus.Labels{}
	for _, l := range m.LabelNames() {
		labels[l] = "x"
	}
	switch m.Type {
	case metric.TypeCounter:
		return prometheus.NewCounter(prometheus.CounterOpts{Name: m.Name, Help: m.Help, ConstLabels: labels})
	case metric.TypeHistogram:
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: m.Name, Help: m.Help, ConstLabels: labels, Buckets: m.Buckets})
	default:
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: m.Name, Help: m.Help, ConstLabels: labels})
	}
}

// TestEveryLabelHasABound looks for labels that say neither which values they have nor what bounds them.
func TestEveryLabelHasABound(t *testing.T) {
	for _, m := range slices.Concat(metric.Declared(), metric.Libraries()) {
		for _, l := range m.Labels {
			if len(l.Values) == 0 && (l.Of == "" || l.Most == 0) {
				t.Errorf("%s: the label %s has no bound", m.Name, l.Name)
			}
		}
		if m.Series() > 5000 {
			t.Errorf("%s has up to %d series", m.Name, m.Series())
		}
	}
	for _, l := range []string{"namespace", "name", "hostname"} {
		for _, m := range metric.Declared() {
			if slices.Contains(m.LabelNames(), l) {
				t.Errorf("%s has the label %s: there are as many as users make", m.Name, l)
			}
		}
	}
}

func TestKindsAreThoseOfTheOperator(t *testing.T) {
	if got := metric.Kind().Values; !slices.Equal(got, controllers.Kinds()) {
		t.Errorf("the label kind may be %v, and the operator runs %v", got, controllers.Kinds())
	}
}
