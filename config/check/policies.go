package check

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Policies tells which admission policies of this version, and which of their bindings, the cluster lacks or has weaker
// than this version brings them. Stricter ones, and other words for people, are no problem.
func (c *Cluster) Policies(ctx context.Context) ([]Problem, error) {
	wanted, err := c.names.policies()
	if err != nil {
		return nil, err
	}
	return c.each(ctx, wanted, func(want, have *object) []string {
		return weaker("spec", meaning(want.Object["spec"]), meaning(have.Object["spec"]))
	})
}

// wordless are fields without an effect on decisions: messages, and audit annotations.
var wordless = []string{"message", "messageExpression", "reason", "auditAnnotations"}

// defaults are what the API server fills in.
var defaults = map[string]any{"matchPolicy": "Equivalent", "scope": "*"}

// meaning returns v without what decides nothing.
func meaning(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, value := range v {
			if value = meaning(value); value != nil && !slices.Contains(wordless, key) && value != defaults[key] {
				kept[key] = value
			}
		}
		if len(kept) > 0 {
			return kept
		}
		return nil
	case []any:
		var kept []any
		for _, value := range v {
			kept = append(kept, meaning(value))
		}
		if kept != nil {
			return kept
		}
		return nil
	}
	return v
}

// open are lists in which more elements make a policy stricter or have no effect.
var open = []string{
	"spec.validations", "spec.variables", "spec.matchConstraints.resourceRules",
	"spec.validationActions",
}

// weaker tells where have is not at least what want is.
func weaker(at string, want, have any) []string {
	if w, ok := want.(map[string]any); ok {
		h, _ := have.(map[string]any)
		both := maps.Clone(w)
		maps.Copy(both, h)
		var all []string
		for _, key := range slices.Sorted(maps.Keys(both)) {
			all = append(all, weaker(at+"."+key, w[key], h[key])...)
		}
		return all
	}
	w, _ := want.([]any)
	h, _ := have.([]any)
	switch {
	case reflect.DeepEqual(want, have):
		return nil
	case want == nil:
		return []string{"has " + at + ", which this version has not"}
	case have == nil:
		return []string{"lacks " + at}
	case slices.Contains(open, at) && holds(h, w):
		return nil
	}
	if w, h, ok := words(want, have); ok {
		return []string{fmt.Sprintf("has %s %s instead of %s", at, h, w)}
	}
	return []string{"has another " + at}
}

func holds(all, some []any) bool {
	for _, one := range some {
		if !slices.ContainsFunc(all, func(other any) bool { return reflect.DeepEqual(one, other) }) {
			return false
		}
	}
	return true
}

// words returns two values as text, and whether both are strings short enough for a message.
func words(want, have any) (w, h string, ok bool) {
	const short = 60
	w, isText := want.(string)
	h, isTextToo := have.(string)
	return w, h, isText && isTextToo && max(len(w), len(h)) <= short
}
