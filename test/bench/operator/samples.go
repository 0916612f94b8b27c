package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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

// kubernetesWrites counts the writes that the operator can have made: to custom resources (except the creation and
// deletion of Portico's own), Secrets (except deletions, which the garbage collector does), events, its hostname
// ledger, and everything it applies. The API server's metrics distinguish resources but not clients; in this benchmark
// nothing else writes to them, except for events about Pods. Leases are not counted.
func (w *world) kubernetesWrites(ctx context.Context) (writes, error) {
	all, err := w.APIServer(ctx)
	if err != nil {
		return nil, err
	}
	return all.By("apiserver_request_total", func(l map[string]string) string {
		if !ofOperator(l) {
			return ""
		}
		return strings.TrimSuffix(l["verb"]+" "+l["resource"]+"/"+l["subresource"], "/")
	}), nil
}

// made are the custom resources that the operator itself creates.
var made = []string{"domainclaims", "poolgateways"}

func ofOperator(l map[string]string) bool {
	verb, resource := l["verb"], l["resource"]
	if verb == "APPLY" || (verb == "POST" && slices.Contains(made, resource)) ||
		(verb == "PUT" && resource == "configmaps") {
		return true
	}
	if l["group"] == "portico.dev" {
		return slices.Contains([]string{"PATCH", "PUT", "APPLY"}, verb)
	}
	return slices.Contains([]string{"PATCH", "PUT", "APPLY", "POST"}, verb) &&
		(resource == "secrets" || resource == "events")
}

// text formats the counts by name, each divided by n.
func (w writes) text(n int) string {
	parts := make([]string, 0, len(w))
	for _, name := range slices.Sorted(maps.Keys(w)) {
		parts = append(parts, fmt.Sprintf("%s %.2f", name, float64(w[name])/float64(n)))
	}
	return strings.Join(parts, ", ")
}
