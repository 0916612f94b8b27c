package teamroute

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// mostShown bounds how much a fault shows of a team's value.
const mostShown = 60

// Judge returns what a shared load balancer does not accept in the spec of a route, "" if it accepts all, or may. The
// spec is a *gatewayv1.HTTPRouteSpec or a *gatewayv1.GRPCRouteSpec, according to kind.
func Judge(kind string, spec any) (string, error) { //nolint:gocognit // two kinds of parts
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return "", fmt.Errorf("read the spec of an %s: %w", kind, err)
	}
	rules := list(fields, ofRules)
	for i := range rows {
		r := &rows[i]
		if !slices.Contains(r.kinds, kind) || slices.Contains(onlyNew, r.name) {
			continue
		}
		switch r.of {
		case ofHostnames, ofRules:
			if fault := r.firstFault(list(fields, r.of)); fault != "" {
				return fault, nil
			}
		default:
			for n, rule := range rules {
				if fault := r.firstFault(list(rule, r.of)); fault != "" {
					return fmt.Sprintf("rule %d: %s", n+1, fault), nil
				}
			}
		}
	}
	return "", nil
}

func (r *row) firstFault(parts []any) string {
	for _, part := range parts {
		if r.test.holds(part) {
			continue
		}
		value, _ := find(part, r.shows)
		shown := fmt.Sprint(value)
		if cut := []rune(shown); len(cut) > mostShown {
			shown = string(cut[:mostShown]) + "…"
		}
		return strings.ReplaceAll(r.says, "{}", shown)
	}
	return ""
}
