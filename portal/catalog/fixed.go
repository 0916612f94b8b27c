package catalog

import (
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// immutable is what the message of each rule says that fixes a field: name is immutable: why; what to do instead.
const immutable = " is immutable: "

// fixed looks among a field's own rules for the one that fixes it.
func fixed(rules apiext.ValidationRules, field string) Fixed {
	for _, r := range rules {
		if name, why := reason(r); why != "" && (name == field || r.Rule == "self == oldSelf") {
			return Fixed{Why: why}
		}
	}
	return Fixed{}
}

// fixedChild looks for the rule of an object that fixes one of its fields.
func fixedChild(rules apiext.ValidationRules, field string) Fixed {
	for _, r := range rules {
		if name, why := reason(r); why != "" && name == field {
			return Fixed{Why: why, Unset: strings.Contains(r.Rule, "(oldSelf."+field+")")}
		}
	}
	return Fixed{}
}

// reason returns the field that a rule makes immutable, and why; both are empty if it makes none so.
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
