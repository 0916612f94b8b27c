package catalog

import (
	"regexp"
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Condition restricts when a field can be set, by another field of the same object.
type Condition struct {
	Field  string   // name of the other field
	Label  string   // its label
	Unset  bool     // it must not be set
	Values []string // one of which it must have; empty, and not Unset: it must be set
}

// The rules that forms translate to conditions. Other rules are only checked by the API server.
var (
	eitherRule = regexp.MustCompile(
		`^(?:has\(self\.(\w+)\) != has\(self\.(\w+)\)|!\(has\(self\.(\w+)\) && has\(self\.(\w+)\)\)|!has\(self\.(\w+)\) \|\| !has\(self\.(\w+)\))$`)
	withRule  = regexp.MustCompile(`^!has\(self\.(\w+)\) \|\| has\(self\.(\w+)\)$`)
	valueRule = regexp.MustCompile(`^\(?self\.(\w+) (==|!=) '([^']+)'(?: \|\| !|\) == )has\(self\.(\w+)\)$`)
	isRule    = regexp.MustCompile(`^!has\(self\.(\w+)\) \|\| \(has\(self\.(\w+)\) && self\.(\w+)(?: == '([^']+)')?\)$`)
	manyRule  = regexp.MustCompile(`^\(has\(self\.(\w+)\) && self\.(\w+)\) \|\| \(((?:!has\(self\.\w+\)(?: && )?)+)\)$`)
	names     = regexp.MustCompile(`self\.(\w+)`)
)

// addConditions adds the conditions of an object's rules to its fields.
func addConditions(fields []Field, rules apiext.ValidationRules) {
	for _, r := range rules {
		rule := strings.Join(strings.Fields(r.Rule), " ")
		if m := matched(eitherRule, rule); m != nil {
			need(fields, m[0], Condition{Field: m[1], Unset: true})
			need(fields, m[1], Condition{Field: m[0], Unset: true})
		} else if m := matched(withRule, rule); m != nil {
			need(fields, m[0], Condition{Field: m[1]})
		} else if m := matched(valueRule, rule); m != nil {
			need(fields, m[3], Condition{Field: m[0], Values: among(fields, m[0], m[1] == "==", m[2])})
		} else if m := matched(isRule, rule); m != nil && m[1] == m[2] {
			need(fields, m[0], Condition{Field: m[1], Values: append(m[3:], "true")[:1]})
		} else if m := matched(manyRule, rule); m != nil && m[0] == m[1] {
			for _, name := range names.FindAllStringSubmatch(m[2], -1) {
				need(fields, name[1], Condition{Field: m[0], Values: []string{"true"}})
			}
		}
	}
}

// matched returns the non-empty groups of the pattern in rule, or nil if it does not match.
func matched(pattern *regexp.Regexp, rule string) []string {
	m := pattern.FindStringSubmatch(rule)
	if m == nil {
		return nil
	}
	return slices.DeleteFunc(m[1:], func(s string) bool { return s == "" })
}

// among returns the allowed values of the choice called name: only value if is, else all
// options except value.
func among(fields []Field, name string, is bool, value string) []string {
	if is {
		return []string{value}
	}
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(fields[i].Options), func(o string) bool { return o == value })
}

// need adds a condition to the field of that name.
func need(fields []Field, name string, c Condition) {
	of := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	other := slices.IndexFunc(fields, func(f Field) bool { return f.Name == c.Field })
	if of < 0 || other < 0 {
		return
	}
	c.Label = fields[other].Label
	fields[of].Needs = append(fields[of].Needs, c)
}
