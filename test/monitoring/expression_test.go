package monitoring

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// problems returns what an expression uses that the metrics page does not have.
func problems(all map[string]metric, expression string) []string {
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			found = append(found, inSelector(all, n)...)
		case *parser.AggregateExpr:
			found = append(found, inGrouping(all, n)...)
		}
		return nil
	})
	return found
}

// inSelector checks the selector's metric, its labels and their values.
func inSelector(all map[string]metric, s *parser.VectorSelector) []string {
	m, known := of(all, s.Name)
	if !known {
		return []string{fmt.Sprintf("docs/metrics.md has no %q", s.Name)}
	}
	var found []string
	for _, match := range s.LabelMatchers {
		values, has := m.labels[match.Name]
		exact := match.Type == labels.MatchEqual || match.Type == labels.MatchNotEqual
		switch {
		case match.Name == labels.MetricName:
		case !has:
			found = append(found, fmt.Sprintf("%s has no label %s", s.Name, match.Name))
		case values != nil && !slices.ContainsFunc(values, match.Matches):
			found = append(found, fmt.Sprintf("%s: no value of %s is %s", s.Name, match.Name, match))
		case exact && values != nil && !slices.Contains(values, match.Value):
			found = append(found, fmt.Sprintf("%s: %s is never %q", s.Name, match.Name, match.Value))
		}
	}
	return found
}

// inGrouping checks that every metric below the aggregation has the labels that it groups by.
func inGrouping(all map[string]metric, a *parser.AggregateExpr) []string {
	var found []string
	for _, name := range a.Grouping {
		parser.Inspect(a.Expr, func(node parser.Node, _ []parser.Node) error {
			if s, is := node.(*parser.VectorSelector); is {
				if m, _ := of(all, s.Name); !m.has(name) {
					found = append(found, fmt.Sprintf("%s has no label %s to group by", s.Name, name))
				}
			}
			return nil
		})
	}
	return found
}

func (m metric) has(label string) bool {
	_, is := m.labels[label]
	return is || m.histogram && label == "le"
}

// of returns the metric with a series of this name; a histogram has three series.
func of(all map[string]metric, series string) (metric, bool) {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if name, is := strings.CutSuffix(series, suffix); is && all[name].histogram {
			return all[name], true
		}
	}
	m, is := all[series]
	return m, is && !m.histogram
}

func TestProblemsOfExpressionsAreFound(t *testing.T) {
	all := metrics(t)
	for expression, want := range map[string]string{
		"sum by (kind) (portico_resources)":                                                     "",
		"histogram_quantile(0.9, sum by (le) (rate(portico_time_to_ready_seconds_bucket[5m])))": "",
		`sum(rate(portico_portal_requests_total{code=~"5.."}[5m]))`:                             "",
		"portico_resource":                        "no \"portico_resource\"",
		"portico_time_to_ready_seconds":           "no \"portico_time_to_ready_seconds\"",
		"portico_resources_count":                 "no \"portico_resources_count\"",
		`portico_resources{namespace="payments"}`: "no label namespace",
		`portico_resources{kind="Bucket"}`:        "no value of kind",
		`portico_resources{kind!="Bucket"}`:       `never "Bucket"`,
		`portico_aws_calls_total{result=~"Thr"}`:  "no value of result",
		"sum by (namespace) (portico_resources)":  "no label namespace to group by",
		"sum by (le) (portico_resources)":         "no label le",
		"sum(portico_resources":                   "parse error",
	} {
		got := strings.Join(problems(all, expression), "; ")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}
