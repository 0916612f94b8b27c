package catalog

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// steps parses condition types; optional ones end in a question mark.
func steps(types []string) []Step {
	var all []Step
	for _, t := range types {
		name, optional := strings.CutSuffix(t, "?")
		all = append(all, Step{Type: name, Title: label(name), Optional: optional})
	}
	return all
}

// readForm reads the annotations about the kind's form and about what pages show of an object.
func (k *Kind) readForm(annotations map[string]string) {
	k.Sections = sections(annotations[prefix+"sections"])
	k.People = below("spec", listed(annotations[prefix+"people"]))
	k.Changes = changes(annotations[prefix+"change-effects"])
	k.Begins = values(listed(annotations[prefix+"begins"]))
	k.Names = listed(annotations[prefix+"names"])
	k.Says = says(annotations[prefix+"says"])
	k.Offers, k.Whole = offers(annotations[prefix+"offers"])
	k.Steps = steps(listed(annotations[prefix+"steps"]))
}

// Value is the value of a field, as in a form.
type Value struct{ Field, Text string } // Field is its name in spec

// values parses field values: field=value.
func values(pairs []string) []Value {
	var all []Value
	for _, one := range pairs {
		if field, text, ok := strings.Cut(one, "="); ok {
			all = append(all, Value{field, text})
		}
	}
	return all
}

// offers parses the fields of spec for which an AWS account offers values, with the fields on which these depend: field
// or field=fields, separated by bars.
func offers(annotation string) (all map[string][]string, whole []string) {
	all = map[string][]string{}
	for one := range strings.SplitSeq(annotation, "|") {
		field, by, _ := strings.Cut(one, "=")
		field, isWhole := strings.CutSuffix(field, "!")
		if field == "" {
			continue
		}
		if all[field] = listed(by); isWhole {
			whole = append(whole, field)
		}
	}
	return all, whole
}

// sections parses the sections of a form: title=fields, separated by bars. The title of a folded section ends in a
// question mark.
func sections(annotation string) []Section {
	var all []Section
	for one := range strings.SplitSeq(annotation, "|") {
		if title, fields, ok := strings.Cut(one, "="); ok {
			title, folded := strings.CutSuffix(strings.TrimSpace(title), "?")
			all = append(all, Section{Title: title, Fields: listed(fields), Folded: folded})
		}
	}
	return all
}

// below returns the paths with object in front.
func below(object string, paths []string) []string {
	var all []string
	for _, p := range paths {
		all = append(all, object+"."+p)
	}
	return all
}

// IsPerson reports whether the field at path, which can have row numbers, contains users or groups.
func (k Kind) IsPerson(path string) bool { return slices.Contains(k.People, pattern(path)) }

// changes parses the effects of changes: fields=sentence, separated by bars. fields-=sentence applies to lower numbers
// only.
func changes(annotation string) []Change {
	var all []Change
	for one := range strings.SplitSeq(annotation, "|") {
		if fields, effect, ok := strings.Cut(one, "="); ok {
			fields, lower := strings.CutSuffix(fields, "-")
			all = append(all, Change{Fields: listed(fields), Effect: effect, Lower: lower})
		}
	}
	return all
}

// Holds reports whether c applies to the change of a field of spec from was to will. A number that was not set counts
// as having been higher.
func (c Change) Holds(field string, was, will *unstructured.Unstructured) bool {
	if !slices.Contains(c.Fields, field) {
		return false
	}
	before, set := number(was, field)
	after, stays := number(will, field)
	return !c.Lower || (stays && (!set || after < before))
}

func number(obj *unstructured.Unstructured, field string) (float64, bool) {
	value, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", field)
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// listed splits an annotation that lists field names in order.
func listed(annotation string) []string {
	var names []string
	for n := range strings.SplitSeq(annotation, ",") {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}
