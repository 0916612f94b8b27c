package guardrails

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// OfTeam returns the limits of a Team; those of none, of nobody.
func OfTeam(t *v1alpha1.Team) Limits {
	if t == nil || t.Spec.Guardrails == nil {
		return Limits{}
	}
	return Limits{By: v1alpha1.KindTeam + " " + t.Name, Rules: content(t.Spec.Guardrails)}
}

// OfProvider returns the limits of an AWSProvider with this name.
func OfProvider(name string, g *v1alpha1.Guardrails) Limits {
	if g == nil {
		return Limits{}
	}
	return Limits{By: v1alpha1.KindAWSProvider + " " + name, Rules: content(g)}
}

// content returns a value as JSON has it, with whole numbers.
func content(v any) map[string]any {
	text, err := json.Marshal(v)
	var out map[string]any
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("%T: %v", v, err)) // the types are ours, and have nothing that JSON does not
	}
	return out
}

// Spec returns the spec of an object as the rules read it.
func Spec(obj any) map[string]any {
	s, _ := content(obj)["spec"].(map[string]any)
	return s
}

// Note returns what the annotation v1alpha1.AnnotationGuardrails of the Team's namespaces says: a line for each entry of a rule, and
// one for each AWSProvider that the Team lists, with its regions. Admission reads it, and nobody else.
func Note(t *v1alpha1.Team) string {
	var lines []string
	add := func(words ...string) {
		if line := strings.Join(words, " "); !strings.ContainsAny(line, "\r\n") {
			lines = append(lines, line)
		}
	}
	for _, p := range t.Spec.Providers {
		add(append([]string{"provider", p.Name}, p.Regions...)...)
	}
	rules := OfTeam(t).Rules
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		for _, entry := range noted(rules[name]) {
			add(append([]string{name}, entry...)...)
		}
	}
	return strings.Join(lines, "\n")
}

// noted returns what a rule says, entry by entry, as words.
func noted(limit any) (all [][]string) {
	switch limit := limit.(type) {
	case map[string]any: // tags: their keys
		for _, key := range slices.Sorted(maps.Keys(limit)) {
			all = append(all, []string{key})
		}
	case []any:
		for _, entry := range limit {
			words := []string{fmt.Sprint(entry)}
			if engine, ok := entry.(map[string]any); ok {
				words = append([]string{fmt.Sprint(engine["engine"])}, texts(engine["versions"])...)
			}
			all = append(all, words)
		}
	case bool:
		all = append(all, []string{fmt.Sprint(limit)})
	case float64:
		all = append(all, []string{fmt.Sprint(number(limit))})
	}
	return all
}
