package teams

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestProvidersFailClosed(t *testing.T) {
	labels := map[string]string{"team": "payments"}
	for reason, c := range map[string]struct {
		spec map[string]any
		want bool
	}{
		"no selector":             {map[string]any{}, false},
		"no spec":                 {nil, false},
		"all":                     {map[string]any{"allowedNamespaces": map[string]any{}}, true},
		"a label":                 {map[string]any{"allowedNamespaces": map[string]any{"matchLabels": map[string]any{"team": "payments"}}}, true},
		"another label":           {map[string]any{"allowedNamespaces": map[string]any{"matchLabels": map[string]any{"team": "search"}}}, false},
		"a broken one":            {map[string]any{"allowedNamespaces": map[string]any{"matchExpressions": []any{map[string]any{"key": "team", "operator": "Maybe"}}}}, false},
		"no map":                  {map[string]any{"allowedNamespaces": "all"}, false},
		"labels that are no text": {map[string]any{"allowedNamespaces": map[string]any{"matchLabels": map[string]any{"team": int64(1)}}}, false},
	} {
		if got := selects(&unstructured.Unstructured{Object: map[string]any{"spec": c.spec}}, labels); got != c.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}
