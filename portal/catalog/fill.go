package catalog

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var indices = regexp.MustCompile(`\[\d+\]`)

// Fill replaces the value at path by one that the schema accepts by its type, length and options. The API server then
// also checks the kind's rules, which it skips while such an error remains. It reports whether path is a field that can
// be filled; list elements and all parents must exist.
func (k Kind) Fill(obj *unstructured.Unstructured, path string) bool {
	f, ok := Field{Name: "spec", Type: Object, Fields: k.Fields()}, path == "spec"
	if !ok {
		if f, ok = k.field(indices.ReplaceAllString(path, "[]")); !ok {
			return false
		}
	}
	v, ok := f.filling()
	return ok && setAt(obj.Object, pathSteps(path), v)
}

// filling returns a value that fits the field's schema, except perhaps its patterns and rules, and whether there is
// one.
func (f Field) filling() (any, bool) {
	switch f.Type {
	case Object:
		out := map[string]any{}
		for _, c := range f.Fields {
			if !c.Required {
				continue
			}
			v, ok := c.filling()
			if !ok {
				return nil, false
			}
			out[c.Name] = v
		}
		return out, true
	case Array:
		return f.elements()
	case String:
		return f.text(), true
	case Integer:
		return int64(f.number()), true
	case Number:
		return f.number(), true
	case Boolean:
		return false, true
	default:
		return nil, false
	}
}

func (f Field) elements() (any, bool) {
	out := []any{}
	if f.Limits.MinItems == nil {
		return out, true
	}
	for range *f.Limits.MinItems {
		v, ok := f.Items.filling()
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

func (f Field) text() string {
	if len(f.Options) > 0 {
		return f.Options[0]
	}
	n := int64(1)
	if f.Limits.MinLength != nil {
		n = max(n, *f.Limits.MinLength)
	}
	return strings.Repeat("a", int(n))
}

func (f Field) number() float64 {
	if len(f.Options) > 0 {
		if v, err := strconv.ParseFloat(f.Options[0], 64); err == nil {
			return v
		}
	}
	switch {
	case f.Limits.Min != nil:
		return *f.Limits.Min
	case f.Limits.Max != nil:
		return min(*f.Limits.Max, 0)
	}
	return 0
}

// pathSteps splits a path into names and indices: spec.zones[0] becomes spec, zones, [0].
func pathSteps(path string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(path, "[", ".["), func(r rune) bool { return r == '.' })
}

// setAt sets the value at the end of the steps; all parents must exist.
func setAt(at any, steps []string, v any) bool {
	for i, step := range steps {
		last := i == len(steps)-1
		switch parent := at.(type) {
		case map[string]any:
			if last {
				parent[step] = v
				return true
			}
			at = parent[step]
		case []any:
			n, err := strconv.Atoi(strings.Trim(step, "[]"))
			if err != nil || n < 0 || n >= len(parent) {
				return false
			}
			if last {
				parent[n] = v
				return true
			}
			at = parent[n]
		default:
			return false
		}
	}
	return false
}

// DueTo reports whether the error can be caused by the value at path: it is about that value, or about a parent, by a
// rule that reads the value.
func (k Kind) DueTo(e FieldError, path string) bool {
	if e.Field == path || under(e.Field, path) {
		return true
	}
	rest := "." + path
	if e.Field != "" {
		if !under(path, e.Field) {
			return false
		}
		rest = path[len(e.Field):]
	}
	if rest[0] == '[' { // any element of the list can be meant
		return true
	}
	rule, ok := k.ruleAt(e.Field, e.Message)
	return !ok || mentions(rule, pathSteps(rest)[0])
}

// mentions reports whether a rule reads a field of its object.
func mentions(rule, field string) bool {
	for _, before := range []string{"self.", "oldSelf."} {
		for rest := rule; ; {
			_, after, found := strings.Cut(rest, before+field)
			if !found {
				break
			}
			if r := []rune(after); len(r) == 0 || !unicode.IsLetter(r[0]) && !unicode.IsDigit(r[0]) && r[0] != '_' {
				return true
			}
			rest = after
		}
	}
	return false
}

// ruleAt returns the rule with this message in the schema at path.
func (k Kind) ruleAt(path, message string) (string, bool) {
	var at apiext.JSONSchemaProps
	if err := json.Unmarshal(k.source.unpacked().schema, &at); err != nil {
		return "", false
	}
	for _, step := range pathSteps(path) {
		next, ok := at.Properties[step]
		switch {
		case ok:
			at = next
		case strings.HasPrefix(step, "[") && at.Items != nil && at.Items.Schema != nil:
			at = *at.Items.Schema
		case at.AdditionalProperties != nil && at.AdditionalProperties.Schema != nil:
			at = *at.AdditionalProperties.Schema
		default:
			return "", false
		}
	}
	for _, r := range at.XValidations {
		if strings.TrimSpace(r.Message) == message {
			return r.Rule, true
		}
	}
	return "", false
}
