package catalog

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// steps reads types of conditions; those that not every object has end in a question mark.
func steps(types []string) []Step {
	var all []Step
	for _, t := range types {
		name, optional := strings.CutSuffix(t, "?")
		all = append(all, Step{Type: name, Title: label(name), Optional: optional})
	}
	return all
}

// readForm reads the annotations about the form of the kind, and about what it shows of an object.
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

// Value is what a field has, as forms write it.
type Value struct{ Field, Text string } // Field is its name in spec

// values reads what fields have: field=value.
func values(pairs []string) []Value {
	var all []Value
	for _, one := range pairs {
		if field, text, ok := strings.Cut(one, "="); ok {
			all = append(all, Value{field, text})
		}
	}
	return all
}

// offers reads for which fields of spec an AWS account has values, and the fields that decide which: field or
// field=fields, separated by bars.
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

// sections reads the parts of a form: title=fields, separated by bars. The title of a folded one ends in a question
// mark.
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

// below returns paths beneath an object.
func below(object string, paths []string) []string {
	var all []string
	for _, p := range paths {
		all = append(all, object+"."+p)
	}
	return all
}

// IsPerson reports whether the field at path, which may have row numbers, names users or groups.
func (k Kind) IsPerson(path string) bool { return slices.Contains(k.People, pattern(path)) }

// changes reads what changes do: fields=sentence, several of them separated by a bar. fields-=sentence tells what lower
// numbers do.
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

// Holds reports whether the change of a field of spec from was to will is one that c speaks of. A number that was not
// set before may have been any.
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

// listed splits an annotation that names fields in order.
func listed(annotation string) []string {
	var names []string
	for n := range strings.SplitSeq(annotation, ",") {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}
