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

// Holds reports whether the change of a field of spec from was to will is one that c speaks of. A number that was not set
// before may have been any.
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
