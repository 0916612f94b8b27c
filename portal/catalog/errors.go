package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fieldpath "k8s.io/apimachinery/pkg/util/validation/field"
)

// FieldError is one error about one field.
type FieldError struct {
	Field   string // Kubernetes path, "" for the whole object
	Message string // for users
	Value   string // the refused value, "" if unknown
}

// FieldErrors are the errors about one object.
type FieldErrors []FieldError

// FromStatus returns the field errors of the API server's response about an object of kind k: validation, CEL rules,
// enums, webhooks, and unknown fields under strict validation. None means that err is about something else.
func FromStatus(k Kind, err error) FieldErrors {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil
	}
	s := status.Status()
	if s.Reason == metav1.StatusReasonBadRequest {
		return strictErrors(s.Message)
	}
	if s.Reason != metav1.StatusReasonInvalid || s.Details == nil {
		return nil
	}
	var out FieldErrors
	for _, c := range s.Details.Causes {
		if c.Field == "patch" {
			out = append(out, patchErrors(causeOf(c).detail)...)
			continue
		}
		if e := k.fromCause(causeOf(c)); !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

func (k Kind) fromCause(c cause) FieldError {
	out := FieldError{Field: c.field, Message: k.message(c), Value: jsonText(c.value)}
	if out.Value != "" && c.ofPairs() { // only the value says which
		out.Message = strconv.Quote(out.Value) + ": " + out.Message
	}
	return out
}

// causeOf splits a cause: `Invalid value: "x": detail`, without a value for some types. The API server's name for the
// whole object is <nil>.
func causeOf(c metav1.StatusCause) cause {
	words, at := ofPolicy(c.Message)
	out := cause{is: c.Type, field: cmp.Or(strings.TrimPrefix(c.Field, "<nil>"), at), detail: words}
	if rest, ok := strings.CutPrefix(words, fieldpath.ErrorType(c.Type).String()); ok {
		out.detail, out.value = cutJSON(strings.TrimPrefix(rest, ": "))
	}
	return out
}

// cutJSON splits one JSON value from the front of rest.
func cutJSON(rest string) (detail string, value json.RawMessage) {
	dec := json.NewDecoder(strings.NewReader(rest))
	if err := dec.Decode(&value); err == nil {
		tail := rest[dec.InputOffset():]
		if detail, ok := strings.CutPrefix(tail, ": "); ok || tail == "" {
			return detail, value
		}
	}
	return rest, nil
}

var unknownField = regexp.MustCompile(`(unknown field|duplicate field) "([^"]+)"`)

// strictErrors parses the errors of strict field validation, which have no causes.
func strictErrors(message string) FieldErrors {
	if !strings.Contains(message, "strict decoding error") {
		return nil
	}
	var out FieldErrors
	for _, m := range unknownField.FindAllStringSubmatch(message, -1) {
		text := noField
		if m[1] == "duplicate field" {
			text = twice
		}
		out = append(out, FieldError{Field: m[2], Message: text})
	}
	return out
}

// patchErrors parses the API server's errors about a whole patch, whose value is the whole object.
func patchErrors(detail string) FieldErrors {
	if unknown := strictErrors(detail); len(unknown) > 0 {
		return unknown
	}
	return FieldErrors{{Message: detail}}
}

// Locate sets the field of errors about the whole object if they come from a rule of the kind about the name only: the
// API server cannot set it.
func (k Kind) Locate(errs FieldErrors) FieldErrors {
	out := slices.Clone(errs)
	for i, e := range out {
		if e.Field == "" && slices.ContainsFunc(k.source.unpacked().rules, func(r apiext.ValidationRule) bool {
			return r.Message == e.Message && strings.Contains(r.Rule, "self.metadata.name")
		}) {
			out[i].Field = "metadata.name"
		}
	}
	return out
}

// Place assigns each error to an input. inputs are the names that the page shows in order, including groups
// (spec.encryption) if the page can show their errors. An error about a group is assigned to the member that its
// message names (kmsKeyID is required …), else to the group, else to its first member shown; an error about a deeper
// field to the nearest input above it. The others, in rest, belong at the top of the form.
func (e FieldErrors) Place(inputs []string) (byInput map[string][]string, rest []string) {
	byInput = map[string][]string{}
	for _, fe := range e {
		if at := place(fe, inputs); at != "" {
			byInput[at] = append(byInput[at], fe.Message)
		} else if fe.Field == "" || fe.Field == "spec" {
			rest = append(rest, fe.Message)
		} else {
			rest = append(rest, fe.Field+": "+fe.Message)
		}
	}
	return byInput, rest
}

func place(fe FieldError, inputs []string) string {
	if at := named(fe, inputs); at != "" {
		return at
	}
	if fe.Field != "" && fe.Field != "spec" {
		if slices.Contains(inputs, fe.Field) {
			return fe.Field
		}
		if i := slices.IndexFunc(inputs, func(in string) bool { return under(in, fe.Field) }); i >= 0 {
			return inputs[i]
		}
	}
	for at := parent(fe.Field); at != ""; at = parent(at) {
		if slices.Contains(inputs, at) {
			return at
		}
	}
	return ""
}

// named returns the input of a group with whose name the error's message begins, or "". An error about spec itself,
// which has no input, can name the field further on, if it is spelled as only fields are, such as kmsKeyID.
func named(fe FieldError, inputs []string) string {
	if fe.Field == "" {
		return ""
	}
	for i, word := range strings.Fields(fe.Message) {
		word = strings.Trim(word, ":;,.")
		camel := fe.Field == "spec" && strings.ToLower(word) != word
		if at := fe.Field + "." + word; (i == 0 || camel) && slices.Contains(inputs, at) {
			return at
		}
	}
	return ""
}

// under reports whether input is below group.
func under(input, group string) bool {
	rest, ok := strings.CutPrefix(input, group)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// parent returns a path without its last step.
func parent(path string) string {
	i := strings.LastIndexAny(path, ".[")
	if i < 0 {
		return ""
	}
	return path[:i]
}
