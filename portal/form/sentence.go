package form

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// sentence returns a one-sentence description of an object, from its kind, and the fields that it covers; "" if the
// kind has none.
func (s subject) sentence(obj *unstructured.Unstructured) (text string, told []string) {
	spec, _, _ := unstructured.NestedMap(obj.Object, "spec")
	var clauses []string
	for _, c := range s.kind.Says {
		i := slices.IndexFunc(c, func(p catalog.Phrase) bool { return holds(p, spec) })
		if i < 0 {
			continue
		}
		clauses = append(clauses, c[i].Words(func(field string) string { return s.valueOf(field, spec) }))
		told = append(told, c[i].Tells()...)
	}
	if len(clauses) == 0 {
		return "", nil
	}
	return strings.ToUpper(s.kind.Title[:1]) + s.kind.Title[1:] + ": " + strings.Join(clauses, ", ") + ".", told
}

// holds reports whether the conditions of a phrase hold, and all its fields have values.
func holds(p catalog.Phrase, spec map[string]any) bool {
	for _, t := range p.When {
		v, set := spec[t.Field]
		is := set && v != false
		if t.Value != "" {
			is = set && fmt.Sprint(v) == t.Value
		}
		if is == t.Not {
			return false
		}
	}
	return !slices.ContainsFunc(p.Fields(), func(field string) bool {
		_, set := spec[field]
		return !set && !slices.ContainsFunc(p.When, func(t catalog.Test) bool { return t.Field == field })
	})
}

// valueOf returns the display text of a field of spec.
func (s subject) valueOf(field string, spec map[string]any) string {
	fields := s.kind.Fields()
	i := slices.IndexFunc(fields, func(f catalog.Field) bool { return f.Name == field })
	if i < 0 {
		return ""
	}
	return said(fields[i], spec[field])
}

// mostSaid is the number of list entries shown; the YAML below has all.
const mostSaid = 5

// said returns the display text of a value: yes, 20, two of a list.
func said(f catalog.Field, v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case string:
		return quiet(v)
	case []any:
		return saidList(f, v)
	case map[string]any:
		return saidObject(f, v)
	}
	if text := fmt.Sprint(v); f.Unit != "" {
		return text + " " + string(f.Unit)
	}
	return fmt.Sprint(v)
}

// longestSaid is the length at which a text is cut.
const longestSaid = 80

// quiet returns the beginning of a text on one line.
func quiet(text string) string {
	if text == "" {
		return "empty"
	}
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > longestSaid {
		return string(line[:longestSaid]) + "…"
	}
	return string(line)
}

func saidList(f catalog.Field, all []any) string {
	if len(all) == 0 {
		return "none"
	}
	item := catalog.Field{}
	if f.Items != nil {
		item = *f.Items
	}
	separator := ", "
	if item.Type == catalog.Object {
		separator = "; "
	}
	var words []string
	for _, v := range all[:min(len(all), mostSaid)] {
		words = append(words, said(item, v))
	}
	if more := len(all) - mostSaid; more > 0 {
		words = append(words, strconv.Itoa(more)+" more")
	}
	return strings.Join(words, separator)
}

func saidObject(f catalog.Field, all map[string]any) string {
	if name, ok := all["name"]; ok && f.IsRef() {
		return fmt.Sprint(name)
	}
	var words []string
	for _, member := range f.Fields {
		if v, ok := all[member.Name]; ok {
			words = append(words, spoken.Lower(member.Label)+" "+said(member, v))
		}
	}
	if len(f.Fields) == 0 { // a map
		for _, key := range slices.Sorted(maps.Keys(all)) {
			words = append(words, key+"="+said(catalog.Field{}, all[key]))
		}
	}
	if len(words) == 0 {
		return "set"
	}
	return strings.Join(words, ", ")
}

// settings returns the fields of spec that the sentence does not cover and whose values are not the defaults.
func (s subject) settings(obj *unstructured.Unstructured, told []string) []views.Value {
	spec, _, _ := unstructured.NestedMap(obj.Object, "spec")
	var all []views.Value
	for _, f := range s.kind.Fields() {
		v, set := spec[f.Name]
		if !set || slices.Contains(told, f.Name) || f.Default != "" && fmt.Sprint(v) == f.Default {
			continue
		}
		all = append(all, views.Value{Label: f.Label, Text: said(f, v)})
	}
	return all
}

// changed returns an edit's changes, a line for each field of spec.
func (s subject) changed(was, will *unstructured.Unstructured) []views.Value {
	before, _, _ := unstructured.NestedMap(was.Object, "spec")
	after, _, _ := unstructured.NestedMap(will.Object, "spec")
	var all []views.Value
	for _, f := range s.kind.Fields() {
		a, had := before[f.Name]
		b, has := after[f.Name]
		switch {
		case reflect.DeepEqual(a, b):
		case !has:
			all = append(all, views.Value{Label: f.Label, Text: "removed; it was " + said(f, a)})
		case !had:
			all = append(all, views.Value{Label: f.Label, Text: "set to " + said(f, b)})
		default:
			all = append(all, views.Value{Label: f.Label, Text: "from " + said(f, a) + " to " + said(f, b)})
		}
	}
	return all
}
