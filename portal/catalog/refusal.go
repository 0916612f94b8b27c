package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Messages that several places use.
const (
	// Required is the message for a missing value.
	Required = "is required"
	// Unchecked is the message for an object with errors for which the API server skipped the rules of its kind.
	Unchecked = "more may be wrong: some rules are checked once the rest is right"

	noField = "no such field: check the spelling"
	empty   = "cannot be empty"
	twice   = "is there twice: keep one"
	ends    = "start and end with a letter or a digit"
)

// bare are the messages for causes without one.
var bare = map[metav1.CauseType]string{
	metav1.CauseTypeFieldValueRequired: Required, metav1.CauseTypeFieldValueDuplicate: twice,
	metav1.CauseTypeFieldValueNotFound:     "does not exist",
	metav1.CauseTypeFieldValueNotSupported: "is not one of the values allowed",
	metav1.CauseTypeForbidden:              "cannot be set here",
	metav1.CauseTypeTooLong:                "is too long", metav1.CauseTypeTooMany: "has too many entries",
}

// cause is a cause of an API server's refusal, in its parts.
type cause struct {
	is     metav1.CauseType
	field  string          // "" for the whole object
	value  json.RawMessage // nil if unknown
	detail string          // the rest of the message: a rule's, a policy's or the API server's own
}

// message returns what is wrong, for people: by the schema and by Kubernetes' checks of metadata, whose own messages
// are for programmers, and otherwise the message of the rule or of the policy.
func (k Kind) message(c cause) string {
	ours := ""
	switch of := k.source.unpacked().shape.find(c.field); {
	case strings.HasPrefix(c.field, "metadata."):
		ours = ofMetadata(c)
	case c.is == metav1.CauseTypeFieldValueNotSupported:
		if list, ok := strings.CutPrefix(c.detail, "supported values: "); ok {
			ours = "choose one of: " + strings.ReplaceAll(list, `"`, "")
		}
	case of != nil && (c.is != metav1.CauseTypeFieldValueInvalid || strings.Contains(c.detail, bySchema)):
		ours = of.message(c)
	}
	detail := c.detail
	if c.is == metav1.CauseTypeFieldValueInvalid {
		detail = ofRules(detail)
	}
	return cmp.Or(ours, detail, bare[c.is], "is not valid")
}

// bySchema is in the messages of schema validation, and tells them from those of rules.
const bySchema = " in body "

// find returns the schema of the field at path, nil if there is none.
func (s *shape) find(path string) *shape {
	for _, step := range pathSteps(path) {
		switch {
		case s == nil:
			return nil
		case s.items != nil && strings.HasPrefix(step, "["):
			s = s.items
		case s.fields[step] == nil && s.others != nil: // the key of a map, which can have dots
			return s.others
		default:
			s = s.fields[step]
		}
	}
	return s
}

// message returns what the schema demands of a value that it refuses: its limit of the cause's type.
func (s *shape) message(c cause) string {
	is := s.itself().Schema
	switch c.is {
	case metav1.CauseTypeTooLong:
		return limit(is.MaxLength, "use one character", "use at most %d characters")
	case metav1.CauseTypeTooMany:
		return limit(mostEntries(is), "use one entry at most", "use at most %d entries")
	case metav1.CauseTypeTypeInvalid:
		return ofType(is, jsonText(c.value))
	case metav1.CauseTypeFieldValueInvalid, "FieldValueTooFew", "FieldValueTooShort": // metav1 does not name all
		return s.ofInvalid(c)
	default:
		return ""
	}
}

// ofInvalid returns which other limit of the schema the value breaks.
func (s *shape) ofInvalid(c cause) string {
	is, text := s.itself().Schema, jsonText(c.value)
	n, _ := strconv.ParseFloat(text, 64) // a number, if the schema has a limit of numbers
	switch fewest := cmp.Or(is.MinItems, is.MinProperties); {
	case fewest != nil:
		return limit(fewest, "add at least one entry", "add at least %d entries")
	case is.Minimum != nil && n < *is.Minimum:
		return "use " + decimal(*is.Minimum) + " or more"
	case is.Maximum != nil && n > *is.Maximum:
		return "use " + decimal(*is.Maximum) + " or less"
	case is.MinLength != nil && int64(utf8.RuneCountInString(text)) < *is.MinLength:
		return limit(is.MinLength, empty, "use at least %d characters")
	case is.Pattern != "" && strings.Contains(c.detail, is.Pattern):
		return formOf(is.Pattern)
	}
	return ""
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// limit returns the message with the limit n, "" if there is none.
func limit(n *int64, one, many string) string {
	switch {
	case n == nil:
		return ""
	case *n == 1:
		return one
	}
	return fmt.Sprintf(many, *n)
}

// mostEntries returns how many entries a list or a map can have, by the schema and by those that it is made of.
func mostEntries(of *spec.Schema) *int64 {
	most := cmp.Or(of.MaxItems, of.MaxProperties)
	for i := range of.AllOf {
		if n := mostEntries(&of.AllOf[i]); most == nil || n != nil && *n < *most {
			most = n
		}
	}
	return most
}

// types are our names of a schema's types and formats.
var types = map[string]string{
	"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list",
	"object": "an object with fields", "date-time": "a time, such as 2026-01-31T12:00:00Z",
}

// ofType returns which type a value must have that has another one.
func ofType(of *spec.Schema, has string) string {
	var all []string
	for _, one := range of.Type {
		all = append(all, cmp.Or(types[of.Format], types[one], one))
	}
	message := "must be " + strings.Join(all, " or ")
	if of.Format == "" && of.Type.Contains("string") &&
		slices.Contains([]string{"number", "integer", "boolean"}, has) {
		return message + ": put it in quotes"
	}
	return message
}

// ofMetadata returns what is wrong with an object's name, its labels or its annotations, "" if that is a rule or a
// policy.
func ofMetadata(c cause) string {
	switch {
	case c.is == metav1.CauseTypeFieldValueRequired:
		if c.field != "metadata.name" { // a policy's or webhook's own words
			return cmp.Or(c.detail, Required)
		}
		return Required
	case c.is == metav1.CauseTypeTooMany:
		return fmt.Sprintf("use at most %d entries", mostPairs)
	case c.is == metav1.CauseTypeTooLong && c.field == "metadata.annotations":
		return fmt.Sprintf("use at most %d characters", apivalidation.TotalAnnotationSizeLimitB)
	case c.value == nil:
		return ""
	case c.ofPairs():
		return ofPair(jsonText(c.value))
	case c.field == "metadata.name":
		return ofDomain(jsonText(c.value))
	}
	return ""
}

// ofDomain returns what is wrong with a name that must be a DNS name, "" if nothing is.
func ofDomain(name string) string {
	switch {
	case len(name) > validation.DNS1123SubdomainMaxLength:
		return fmt.Sprintf("use at most %d characters", validation.DNS1123SubdomainMaxLength)
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return "use lower-case letters, digits, hyphens and dots; " + ends
	}
	return ""
}

// ofPairs reports whether the cause is about labels or annotations.
func (c cause) ofPairs() bool {
	return c.field == "metadata.labels" || c.field == "metadata.annotations"
}

// ofPair returns what is wrong with the key or the value of a label or an annotation, "" if nothing is.
func ofPair(text string) string {
	domain, name, hasDomain := strings.Cut(text, "/")
	if !hasDomain {
		domain, name = "", text
	}
	switch {
	case text == "":
		return empty
	case hasDomain && domain == "", name == "", strings.Contains(name, "/"):
		return "use one slash at most: a domain in front of it and a name behind it, such as example.com/name"
	case len(name) > validation.LabelValueMaxLength:
		return fmt.Sprintf("use at most %d characters", validation.LabelValueMaxLength)
	case hasDomain && ofDomain(domain) != "":
		return ofDomain(domain)
	case len(validation.IsValidLabelValue(text)) > 0:
		return "use letters, digits, hyphens, underscores and dots; " + ends
	}
	return ""
}

const (
	unchecked = "some validation rules were not checked"
	tooCostly = "is too large to be checked: make it smaller"
)

// excuses are parts of the API server's messages about rules that it could not check, which have no type of their own.
// Words that end with a space continue with what follows the part: the rule's message.
var excuses = []struct {
	part, words string
	begins      bool // the message begins with it; a rule's own message can contain it
}{
	{unchecked, Unchecked, false},
	{"running out of cost budget", tooCostly, false},
	{"call cost exceeds limit", tooCostly, false},
	{"runtime cost could not be calculated", "could not be checked: try again", false},
	{" evaluating rule: ", "could not be checked: ", false},
	{"macro signature for rule: ", "could not be checked: ", false},
	{"failed rule: ", "breaks the rule ", true},
	{"rule compile", "has a rule that cannot be checked: tell a platform admin", true},
}

// ofRules returns the message of a rule or a policy: it is written for people. Only where the API server could not
// check a rule does it speak itself.
func ofRules(detail string) string {
	for _, e := range excuses {
		if before, rule, ok := strings.Cut(detail, e.part); ok && (before == "" || !e.begins) {
			if strings.HasSuffix(e.words, " ") {
				return e.words + rule
			}
			return e.words
		}
	}
	return detail
}

// quota matches the API server's error for a used-up ResourceQuota, which has no causes.
var quota = regexp.MustCompile(`exceeded quota: (\S+), requested: (\S+), used: (\S+), limited: (\S+)`)

// QuotaWords returns a quota's error in our words, and other admission errors unchanged: policies' messages are written
// for users.
func QuotaWords(words string) string {
	return quota.ReplaceAllString(words, "the quota $1 has no room for $2: $3 is used, and $4 is the limit")
}
