// Package metric defines how packages declare their metrics. The declarations are the source of what Prometheus scrapes
// and of docs/metrics.md.
package metric

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Type is what Prometheus calls the type of a metric.
type Type string

// The types of metrics.
const (
	TypeCounter   Type = "counter"
	TypeGauge     Type = "gauge"
	TypeHistogram Type = "histogram"
)

// Source is the binary that shows a metric.
type Source string

// Who shows metrics.
const (
	Operator Source = "operator"
	Portal   Source = "portal"
	Both     Source = "operator, portal"
)

// Info describes a metric.
type Info struct {
	Name   string
	Help   string
	Source Source
	Labels []Label
	// Buckets of a histogram.
	Buckets []float64
	// Most bounds the number of label combinations; 0: all that the labels can form.
	Most int
	// Type is set by the function that declares the metric.
	Type Type
}

// Label is one label of a metric, and what it may say.
type Label struct {
	Name string
	// Values are all values, if they can be listed.
	Values []string
	// Of describes the values if they cannot be listed, and Most bounds their number.
	Of   string
	Most int
}

// most returns how many values the label has at most.
func (l Label) most() int { return cmp.Or(l.Most, len(l.Values)) }

// Takes reports whether the label may have the value, as far as its values are listed.
func (l Label) Takes(value string) bool {
	return len(l.Values) == 0 || slices.Contains(l.Values, value)
}

// Series returns how many series one process shows at most.
func (i Info) Series() int {
	n := 1
	for _, l := range i.Labels {
		n *= l.most()
	}
	n = cmp.Or(i.Most, n)
	if i.Type == TypeHistogram {
		n *= len(i.Buckets) + 3 // and +Inf, _sum and _count
	}
	return n
}

// units by the end of a name, as Prometheus has it.
var units = []struct{ suffix, unit string }{
	{"_seconds", "seconds"},
	{"_bytes", "bytes"},
	{"_ratio", "from 0 to 1"},
	{"_info", "always 1"},
}

// Unit returns the unit that the name tells; a metric without one counts.
func (i Info) Unit() string {
	name := strings.TrimSuffix(i.Name, "_total")
	for _, u := range units {
		if strings.HasSuffix(name, u.suffix) {
			return u.unit
		}
	}
	return "number"
}

// LabelNames returns the names of the labels, in order.
func (i Info) LabelNames() []string {
	var names []string
	for _, l := range i.Labels {
		names = append(names, l.Name)
	}
	return names
}

var declared struct {
	sync.Mutex
	all []Info
}

// Declared returns all metrics that the packages of this program declare, sorted by name.
func Declared() []Info {
	declared.Lock()
	defer declared.Unlock()
	return sorted(declared.all)
}

func sorted(all []Info) []Info {
	return slices.SortedFunc(slices.Values(all), func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
}

func (i Info) declare(t Type) Info {
	i.Type = t
	declared.Lock()
	defer declared.Unlock()
	declared.all = append(declared.all, i)
	return i
}

// Counter declares a counter. The caller registers it, as with the functions below.
func Counter(i Info) *prometheus.CounterVec {
	i = i.declare(TypeCounter)
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: i.Name, Help: i.Help}, i.LabelNames())
}

// Gauge declares a gauge that is set.
func Gauge(i Info) *prometheus.GaugeVec {
	i = i.declare(TypeGauge)
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: i.Name, Help: i.Help}, i.LabelNames())
}

// Histogram declares a histogram.
func Histogram(i Info) *prometheus.HistogramVec {
	i = i.declare(TypeHistogram)
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: i.Name, Help: i.Help, Buckets: i.Buckets},
		i.LabelNames())
}

// Collected declares a gauge that a collector makes up when it is asked.
func Collected(i Info) *prometheus.Desc {
	i = i.declare(TypeGauge)
	return prometheus.NewDesc(i.Name, i.Help, i.LabelNames(), nil)
}
