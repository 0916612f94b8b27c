package guardrails

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// OfTeam returns the limits of a Team; the zero value for nil.
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

const (
	// noteOf begins the lines of the note that an AWSProvider says.
	noteOf = "@"
	// longestNote is how many bytes a note may have: Kubernetes takes 256 KiB for all annotations of an object.
	longestNote = 128 << 10
)

// Note returns what the annotation v1alpha1.AnnotationGuardrails of the Team's namespaces says: a line for each entry
// of a rule, and one for each AWSProvider that the Team lists, with its regions. What those of them say that the
// namespace may use comes after "@" and their name, as far as there is room: the operator holds to all of it. Admission
// reads the note, and nobody else.
func Note(t *v1alpha1.Team, mayUse ...v1alpha1.AWSProvider) string {
	var n noteLines
	for _, p := range t.Spec.Providers {
		n.add(append([]string{"provider", p.Name}, p.Regions...)...)
	}
	n.addRules(OfTeam(t).Rules)
	for _, p := range mayUse {
		rules := map[string]any{
			"region":           append([]string{p.Spec.Region}, p.Spec.AllowedRegions...),
			"forbiddenTagKeys": p.Spec.ForbiddenTagKeys, "enforcedTags": content(p.Spec.EnforcedTags),
		}
		maps.Copy(rules, OfProvider(p.Name, p.Spec.Guardrails).Rules)
		var of noteLines
		of.addRules(rules, noteOf+p.Name)
		if n.size+of.size <= longestNote {
			n = noteLines{lines: append(n.lines, of.lines...), size: n.size + of.size}
		}
	}
	return strings.Join(n.lines, "\n")
}

// noteLines are those of a note that is being written.
type noteLines struct {
	lines []string
	size  int
}

func (n *noteLines) add(words ...string) {
	if line := strings.Join(words, " "); !strings.ContainsAny(line, "\r\n") {
		n.lines = append(n.lines, line)
		n.size += len(line) + 1
	}
}

// addRules adds what the rules say, after the words that come before each.
func (n *noteLines) addRules(rules map[string]any, before ...string) {
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		for _, entry := range noted(rules[name]) {
			n.add(slices.Concat(before, []string{name}, entry)...)
		}
	}
}

// noted returns what a rule says, entry by entry, as words.
func noted(limit any) (all [][]string) {
	switch limit := limit.(type) {
	case map[string]any: // tags: their keys
		for _, key := range slices.Sorted(maps.Keys(limit)) {
			all = append(all, []string{key})
		}
	case []string:
		for _, entry := range limit {
			all = append(all, []string{entry})
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
