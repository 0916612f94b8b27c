package catalog

import (
	"regexp"
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// immutable is part of the message of each rule that fixes a field: name is immutable: why; what to do instead.
const immutable = " is immutable: "

// fixed returns the Fixed of a field from its own rules.
func fixed(rules apiext.ValidationRules, field string) Fixed {
	for _, r := range rules {
		if name, why := reason(r); why != "" && (name == field || r.Rule == "self == oldSelf") {
			return Fixed{Why: why}
		}
	}
	return Fixed{}
}

// fixedChild returns the Fixed of a field from the rules of its object.
func fixedChild(rules apiext.ValidationRules, field string) Fixed {
	for _, r := range rules {
		if name, why := reason(r); why != "" && name == field {
			return Fixed{Why: why, Unset: strings.Contains(r.Rule, "(oldSelf."+field+")")}
		}
	}
	return Fixed{}
}

// Holds reports whether the field cannot change in an object whose status has these fields: see Kind.Made.
func (f Fixed) Holds(made []string) bool {
	return f.Why != "" && (len(f.Once) == 0 || slices.ContainsFunc(f.Once, func(field string) bool {
		return slices.Contains(made, field)
	}))
}

// Made returns the fields of the object's status that fix fields of its spec, sorted.
func (k Kind) Made(obj *unstructured.Unstructured) (made []string) {
	for _, f := range k.Fields() {
		for _, field := range f.Fixed.Once {
			if TextAt(obj, "status", field) != "" {
				made = append(made, field)
			}
		}
	}
	slices.Sort(made)
	return slices.Compact(made)
}

// statusField matches the fields of status that a rule tests for.
var statusField = regexp.MustCompile(`has\(self\.status\.(\w+)\)`)

// fixRoot sets Fixed on the fields that rules of the whole object fix once a resource exists.
func fixRoot(fields []Field, rules apiext.ValidationRules) {
	for _, r := range rules {
		path := strings.TrimPrefix(r.FieldPath, ".")
		name, why := reason(r)
		if why == "" || path == "" {
			continue
		}
		by := Fixed{Why: why, Unset: strings.Contains(r.Rule, "has(old"+strings.Replace(path, "spec.", "Self.spec.", 1)+
			")")}
		for _, m := range statusField.FindAllStringSubmatch(r.Rule, -1) {
			by.Once = append(by.Once, m[1])
		}
		fix(fields, path, name, by)
	}
}

// fix sets Fixed on the field with the path; or, if that has another name, on the fields with the name in its items.
func fix(fields []Field, path, name string, by Fixed) {
	for i := range fields {
		if f := &fields[i]; f.Path == path && f.Name != name && f.Items != nil {
			for j := range f.Items.Fields {
				if f.Items.Fields[j].Name == name {
					f.Items.Fields[j].Fixed = by
				}
			}
		} else if f.Path == path {
			fields[i].Fixed = by
			for j := range fields[i].Fields { // the input of a reference is that of its name
				fields[i].Fields[j].Fixed = by
			}
		}
	}
}

// reason returns the field that a rule makes immutable, and why; both are empty if the rule does not.
func reason(r apiext.ValidationRule) (field, why string) {
	field, rest, ok := strings.Cut(r.Message, immutable)
	if !ok || !strings.Contains(r.Rule, "oldSelf") {
		return "", ""
	}
	why, _, _ = strings.Cut(rest, ";")
	return field, why
}

// neverChanges returns the message of the rule that makes the whole value immutable, or "" if there is none.
func neverChanges(rules apiext.ValidationRules) string {
	for _, r := range rules {
		if r.Rule == "self == oldSelf" {
			return r.Message
		}
	}
	return ""
}
