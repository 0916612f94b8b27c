// Package guardrails judges objects by the limits that AWSProviders and Teams set. The rules are one table: the
// operator and the portal go by its functions, the API server by the admission policies that are generated from its
// expressions.
package guardrails

import (
	"fmt"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Limits are the guardrails of one object.
type Limits struct {
	By    string         // whose they are, as people say it: AWSProvider main
	Rules map[string]any // its spec.guardrails
}

// Refusal is one rule that an object breaks.
type Refusal struct {
	Rule    string   // the field of spec.guardrails
	Field   string   // of the object, such as spec.instanceType
	Watch   []string // paths below spec of what breaks it
	Message string
}

// Rule is one guardrail of one kind.
type Rule struct {
	Kind string
	Name string // the field of spec.guardrails
	// Field is the path below spec that a refusal is about.
	Field string
	// Team says that only Teams have the rule.
	Team bool
	// watch are the fields of the spec that decide; without any, Field alone.
	watch []string
	test  test
}

// test is a condition that the API server can check as well.
type test struct {
	// refused returns what in the spec breaks the limit, as people say it.
	refused func(spec spec, limit any) []string
	// cel is the same, a list of strings, by the variables s and l.
	cel string
	// only is the single allowed value, empty if there are more.
	only string
	// choices returns the values that the limit names one by one.
	choices func(limit any) []string
	allowed says
}

// Watch returns the fields of the spec that decide whether the rule is kept.
func (r Rule) Watch() []string {
	if len(r.watch) > 0 {
		return r.watch
	}
	return []string{r.Field}
}

// admin is whom to ask, in every refusal.
const admin = "Choose something else, or ask a platform admin to change the rule"

// Of returns the rules of a kind.
func Of(kind string) []Rule {
	var of []Rule
	for _, r := range table {
		if r.Kind == kind {
			of = append(of, r)
		}
	}
	return of
}

// Limit returns what the limits say of the rule, nil if nothing.
func (r Rule) Limit(l Limits) any {
	if limit, ok := l.Rules[r.Name]; ok && limit != false {
		return limit
	}
	return nil
}

// Refused returns why the spec breaks the rule as the limits set it, nil if it does not.
func (r Rule) Refused(s map[string]any, l Limits) *Refusal {
	limit := r.Limit(l)
	if limit == nil {
		return nil
	}
	bad := r.test.refused(s, limit)
	if len(bad) == 0 {
		return nil
	}
	return &Refusal{Rule: r.Name, Field: "spec." + r.Field, Watch: r.Watch(), Message: fmt.Sprintf(
		"spec.%s: %s is not allowed: %s allows %s, by spec.guardrails.%s. %s", r.Field, Shorten(bad), l.By,
		r.test.allowed.text(limit), r.Name, admin)}
}

// Allowed says what the limits allow by the rule, for people; empty if they do not limit it.
func (r Rule) Allowed(l Limits) string {
	if limit := r.Limit(l); limit != nil {
		return fmt.Sprintf("spec.guardrails.%s of %s allows %s", r.Name, l.By, r.test.allowed.text(limit))
	}
	return ""
}

// Only returns the single value that the rule allows, as text; empty if there are more, or if the limits do not
// restrict it.
func (r Rule) Only(l Limits) string {
	if r.Limit(l) == nil {
		return ""
	}
	return r.test.only
}

// Choices returns the values that the limits list, without patterns.
func (r Rule) Choices(l Limits) []string {
	limit := r.Limit(l)
	if limit == nil || r.test.choices == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.test.choices(limit)), func(c string) bool {
		return strings.Contains(c, "*")
	})
}

// Check returns the rules that an object of the kind violates with this spec. An observed resource is not limited.
func Check(kind string, s map[string]any, all ...Limits) []Refusal {
	if s["managementPolicy"] == string(v1alpha1.ManagementObserve) {
		return nil
	}
	var refused []Refusal
	for _, l := range all {
		for _, r := range Of(kind) {
			if broken := r.Refused(s, l); broken != nil {
				refused = append(refused, *broken)
			}
		}
	}
	return refused
}

// most is how many entries of a list a refusal names.
const most = 10

// Shorten returns the list as people read it.
func Shorten(list []string) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// shortenCEL returns the expression of Shorten.
func shortenCEL(list string) string {
	return fmt.Sprintf("(%[1]s.size() <= %[2]d ? %[1]s.join(', ') : %[1]s.filter(x, %[1]s.indexOf(x) < "+
		"%[2]d).join(', ') + ' and ' + string(%[1]s.size() - %[2]d) + ' more')", list, most)
}

// Matches reports whether the value matches the entry of a list, in which one * matches any characters.
func Matches(entry, value string) bool {
	head, tail, stands := strings.Cut(entry, "*")
	if !stands {
		return entry == value
	}
	return len(value) >= len(entry)-1 && strings.HasPrefix(value, head) && strings.HasSuffix(value, tail)
}

// matchesCEL returns the expression of Matches for the entry p.
func matchesCEL(value string) string {
	return fmt.Sprintf("(p.contains('*') ? size(%[1]s) >= size(p) - 1 && %[1]s.startsWith(p.split('*')[0]) && "+
		"%[1]s.endsWith(p.split('*')[1]) : p == %[1]s)", value)
}

// spec is the spec of an object.
type spec = map[string]any

// at returns the value at a path of dots.
func at(s spec, path string) (any, bool) {
	var value any = s
	for part := range strings.SplitSeq(path, ".") {
		m, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, ok = m[part]; !ok {
			return nil, false
		}
	}
	return value, true
}

// hasCEL returns the expression of whether at finds anything.
func hasCEL(path string) string {
	parts := strings.Split(path, ".")
	var all []string
	for i := range parts {
		all = append(all, "has(variables.s."+strings.Join(parts[:i+1], ".")+")")
	}
	return strings.Join(all, " && ")
}

// texts returns a list of strings, from either type.
func texts(list any) []string {
	switch list := list.(type) {
	case []string:
		return list
	case []any:
		out := make([]string, 0, len(list))
		for _, v := range list {
			out = append(out, fmt.Sprint(v))
		}
		return out
	}
	return nil
}

// adopting reports whether what the spec leaves out may be anything: the resource may be there already.
func adopting(s spec) bool { return s["adoptionPolicy"] == string(v1alpha1.AdoptionAdopt) }

const adoptingCEL = "(has(variables.s.adoptionPolicy) && variables.s.adoptionPolicy == 'Adopt')"

// leftOut is said of a field that must be set.
const leftOut = "leaving it out"

// number returns a number of JSON or of a spec.
func number(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}

// anyMatches reports whether some entry matches the value.
func anyMatches(list any, value string) bool {
	return slices.ContainsFunc(texts(list), func(entry string) bool { return Matches(entry, value) })
}
