package catalog

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FieldError is one error about one field.
type FieldError struct {
	Field   string // Kubernetes path, "" for the whole object
	Message string // for users
	Value   string // the refused value, "" if unknown
}

// FieldErrors are the errors about one object.
type FieldErrors []FieldError

// FromStatus returns the field errors of the API server's response: validation, CEL rules, enums, webhooks, and unknown
// fields under strict validation. None means that err is about something else.
func FromStatus(err error) FieldErrors {
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
			out = append(out, patchErrors(c.Message)...)
			continue
		}
		e := fromCause(c)
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

func fromCause(c metav1.StatusCause) FieldError {
	field := c.Field
	if field == "<nil>" { // the API server's name for the whole object
		field = ""
	}
	words, at := ofPolicy(c.Message)
	if field == "" {
		field = at
	}
	detail, value := cutValue(words)
	out := FieldError{Field: field, Message: inPlainWords(detail), Value: value}
	switch c.Type {
	case metav1.CauseTypeFieldValueRequired:
		out.Message, out.Value = orElse(out.Message, Required), ""
	case metav1.CauseTypeFieldValueNotSupported:
		out.Message = choices(detail)
	case metav1.CauseTypeFieldValueDuplicate:
		out.Message = orElse(out.Message, twice)
	case metav1.CauseTypeFieldValueNotFound:
		out.Message = orElse(out.Message, "does not exist")
	default:
		out.Message = orElse(out.Message, orElse(bare[c.Type], inPlainWords(c.Message)))
	}
	if value != "" && (field == "metadata.labels" || field == "metadata.annotations") { // only the value says which
		out.Message = strconv.Quote(value) + ": " + out.Message
	}
	return out
}

// twice is the message for a duplicate entry.
const twice = "is there twice: keep one"

// bare are the messages for causes without one.
var bare = map[metav1.CauseType]string{
	metav1.CauseTypeFieldValueInvalid: "is not valid", metav1.CauseTypeTypeInvalid: "is not valid",
	metav1.CauseTypeForbidden: "cannot be set here",
	metav1.CauseTypeTooLong:   "is too long", metav1.CauseTypeTooMany: "has too many entries",
}

// choices turns the API server's list of supported values into a sentence.
func choices(detail string) string {
	if list, ok := strings.CutPrefix(detail, "supported values: "); ok {
		return "choose one of: " + strings.ReplaceAll(list, `"`, "")
	}
	return orElse(detail, "is not one of the values allowed")
}

// leads are the beginnings of the API server's messages, before the refused value.
var leads = []string{
	"Invalid value: ", "Unsupported value: ", "Duplicate value: ", "Too many: ", "Too few: ", "Not found: ",
	"Forbidden: ", "Required value: ", "Too long: ", "Too short: ", "Internal error: ",
}

// withValue is the number of leads that precede a value.
const withValue = 6

// cutValue splits `Invalid value: "x": detail` into detail and x.
func cutValue(message string) (detail, value string) {
	for i, lead := range leads {
		rest, ok := strings.CutPrefix(message, lead)
		switch {
		case ok && i < withValue:
			return cutJSON(rest)
		case ok:
			return rest, ""
		case message == strings.TrimSuffix(lead, ": "): // without a value, and without a detail
			return "", ""
		}
	}
	return message, ""
}

// cutJSON splits one JSON value from the front of rest.
func cutJSON(rest string) (detail, value string) {
	dec := json.NewDecoder(strings.NewReader(rest))
	var v json.RawMessage
	if err := dec.Decode(&v); err == nil {
		tail := rest[dec.InputOffset():]
		if tail == "" {
			return "", jsonText(v)
		}
		if detail, ok := strings.CutPrefix(tail, ": "); ok {
			return detail, jsonText(v)
		}
	}
	return rest, ""
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
func patchErrors(message string) FieldErrors {
	detail, _ := cutValue(message)
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
		if e.Field == "" && slices.ContainsFunc(k.rules, func(r apiext.ValidationRule) bool {
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

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
