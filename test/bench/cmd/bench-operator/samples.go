package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// sample is one line of the Prometheus text format.
type sample struct {
	name   string
	labels map[string]string
	value  float64
}

type samples []sample

// parse reads the samples; label values are taken as they stand, which does for names of operations and resources.
func parse(r io.Reader) (samples, error) {
	var all samples
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
		all = append(all, sample{name: name, labels: labels(rest), value: value})
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

// sum adds the samples of a metric that ok lets pass; nil lets all pass.
func (s samples) sum(name string, ok func(labels map[string]string) bool) float64 {
	total := 0.0
	for _, one := range s {
		if one.name == name && (ok == nil || ok(one.labels)) {
			total += one.value
		}
	}
	return total
}

// writes are requests that the API server counted, by verb and resource.
type writes map[string]int

func (w writes) total() int {
	total := 0
	for _, n := range w {
		total += n
	}
	return total
}

func (w writes) since(earlier writes) writes {
	rest := writes{}
	for name, n := range w {
		if d := n - earlier[name]; d > 0 {
			rest[name] = d
		}
	}
	return rest
}

// kubernetesWrites are those that the operator may have made: of custom resources (but not the creation and deletion of
// those that are ours), Secrets (but not their deletion, which the garbage collector sees to), events, its ledger of
// hostnames, and what it applies. The API server's own count tells resources apart; nobody else here writes any of these,
// save for events about Pods. Leases are not among them.
func (w *world) kubernetesWrites(ctx context.Context) (writes, error) {
	text, err := w.raw.Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the API server's metrics: %w", err)
	}
	all, err := parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	counted := writes{}
	for _, one := range all {
		if one.name == "apiserver_request_total" && ofOperator(one.labels) {
			name := one.labels["verb"] + " " + one.labels["resource"]
			if sub := one.labels["subresource"]; sub != "" {
				name += "/" + sub
			}
			counted[name] += int(one.value)
		}
	}
	return counted, nil
}

// made are the custom resources that the operator creates itself.
var made = []string{"domainclaims", "poolgateways"}

func ofOperator(l map[string]string) bool {
	verb, resource := l["verb"], l["resource"]
	if verb == "APPLY" || (verb == "POST" && slices.Contains(made, resource)) || (verb == "PUT" && resource == "configmaps") {
		return true
	}
	if l["group"] == "portico.dev" {
		return slices.Contains([]string{"PATCH", "PUT", "APPLY"}, verb)
	}
	return slices.Contains([]string{"PATCH", "PUT", "APPLY", "POST"}, verb) && (resource == "secrets" || resource == "events")
}

// text lists numbers by name, each divided by n.
func (w writes) text(n int) string {
	parts := make([]string, 0, len(w))
	for _, name := range slices.Sorted(maps.Keys(w)) {
		parts = append(parts, fmt.Sprintf("%s %.2f", name, float64(w[name])/float64(n)))
	}
	return strings.Join(parts, ", ")
}
