package campaign

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Sample is one line of the Prometheus text format.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
}

// Samples are all samples of one scrape.
type Samples []Sample

// Parse reads samples. It does not unescape label values, which names of operations and resources do not need.
func Parse(r io.Reader) (Samples, error) {
	var all Samples
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		end := strings.LastIndexByte(line, ' ')
		if end < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("read the metric %q: %w", line, err)
		}
		name, rest, _ := strings.Cut(line[:end], "{")
		all = append(all, Sample{Name: name, Labels: labels(rest), Value: value})
	}
	return all, lines.Err()
}

func labels(text string) map[string]string {
	all := map[string]string{}
	for pair := range strings.SplitSeq(strings.TrimSuffix(text, "}"), `",`) {
		if key, value, ok := strings.Cut(pair, `="`); ok {
			all[key] = strings.TrimSuffix(value, `"`)
		}
	}
	return all
}

// Sum adds up the samples of a metric for which ok returns true; a nil ok accepts all.
func (s Samples) Sum(name string, ok func(labels map[string]string) bool) float64 {
	total := 0.0
	for _, one := range s {
		if one.Name == name && (ok == nil || ok(one.Labels)) {
			total += one.Value
		}
	}
	return total
}

// By adds up the samples of a metric by the name that name returns for their labels. It leaves out those without one.
func (s Samples) By(metric string, name func(labels map[string]string) string) map[string]int {
	all := map[string]int{}
	for _, one := range s {
		if one.Name != metric {
			continue
		}
		if n := name(one.Labels); n != "" {
			all[n] += int(one.Value)
		}
	}
	return all
}

// Scrape reads the metrics at a URL.
func Scrape(ctx context.Context, url string) (Samples, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	return Parse(answer.Body)
}
