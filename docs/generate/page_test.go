package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
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

func TestThePagesAreAsGenerated(t *testing.T) {
	pages, err := generated("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pages {
		if is, err := os.ReadFile("../" + name); err != nil || !bytes.Equal(is, want) {
			t.Errorf("docs/%s is not what the code says (%v): run make generate", name, err)
		}
	}
	for name, least := range map[string]int{
		"metrics.md": 20, "reasons.md": 150, "cli-reference.md": 30,
		"rest-reference.md": 80,
	} {
		if n := bytes.Count(pages[name], []byte("\n| `")) + bytes.Count(
			pages[name], []byte("\n## portico")) + bytes.Count(pages[name], []byte("\n### ")); n < least {
			t.Errorf("docs/%s has %d entries", name, n)
		}
	}
}

// A reason whose meaning nobody wrote down is an error, so that no condition comes with a word that no page explains.
func TestAReasonWithoutAMeaningIsNoticed(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700),
			os.WriteFile(filepath.Join(root, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("api/v1alpha1/a.go", "package a\n\nconst (\n\tReasonBeside = \"Beside\" // is said here\n\tReasonOfKind = "+
		"\"OfKind\"\n)\n")
	write("docs/kinds/thing.md", "# Thing\n`OfKind`, `Beside`\n")
	if text, err := reasons(root); err == nil || !strings.Contains(err.Error(), "OfKind") {
		t.Fatalf("%s, %v", text, err)
	}
	write("docs/kinds/thing.md", "# Thing\n| `Other`, `OfKind` | a thing | wait |\n| `Beside` | not this | |\n")
	text, err := reasons(root)
	want := "| `Beside` | is said here | [Thing](kinds/thing.md) |\n| `OfKind` | a thing | [Thing](kinds/thing.md) |\n"
	if err != nil || !strings.HasSuffix(string(text), want) {
		t.Errorf("%s, %v", text, err)
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
		t.Errorf("registered are\n%s\nand declared by package metric\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
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
		return prometheus.NewHistogram(
			prometheus.HistogramOpts{Name: m.Name, Help: m.Help, ConstLabels: labels, Buckets: m.Buckets})
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
