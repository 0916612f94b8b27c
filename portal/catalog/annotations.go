package catalog

import "strings"

// steps reads types of conditions; those that not every object has end in a question mark.
func steps(types []string) []Step {
	var all []Step
	for _, t := range types {
		name, optional := strings.CutSuffix(t, "?")
		all = append(all, Step{Type: name, Title: label(name), Optional: optional})
	}
	return all
}

// changes reads what changes do: fields=sentence, several of them separated by a bar.
func changes(annotation string) []Change {
	var all []Change
	for one := range strings.SplitSeq(annotation, "|") {
		if fields, effect, ok := strings.Cut(one, "="); ok {
			all = append(all, Change{Fields: listed(fields), Effect: effect})
		}
	}
	return all
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
