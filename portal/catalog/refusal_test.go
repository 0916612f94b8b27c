package catalog

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// raw matches the terms of Kubernetes and of JSON schemas, which mean nothing to users of a form.
var raw = regexp.MustCompile(
	`in body|RFC|DNS-1|regex|alphanumeric|inclusive|chars|schema\b.*(Of)|\bitems?\b|propert|must consist|FieldValue|be of type|non-empty|generateName|cost budget|must validate`)

// ofSpec returns a kind whose spec has these fields.
func ofSpec(t *testing.T, properties string) Kind {
	t.Helper()
	spec := apiext.JSONSchemaProps{Type: "object"}
	if err := yaml.UnmarshalStrict([]byte(properties), &spec.Properties); err != nil {
		t.Fatal(err)
	}
	root := &apiext.JSONSchemaProps{Properties: map[string]apiext.JSONSchemaProps{"spec": spec}}
	s, _, err := newSource(root, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Kind{source: s}
}

// TestEveryMessageOfTheValidationHasOurWords, for each limit of a schema that a value breaks.
func TestEveryMessageOfTheValidationHasOurWords(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{type: integer}`, `a`, "must be a whole number"},
		{`{type: integer, format: int32}`, `"8"`, "must be a whole number"},
		{`{type: integer, format: int32}`, `3000000000`, "use a number from -2147483648 to 2147483647"},
		{`{type: integer, format: int32, maximum: 9}`, `3000000000`, "use 9 or less"},
		{`{type: number}`, `[]`, "must be a number"},
		{`{type: boolean}`, `"yes"`, "must be true or false"},
		{`{type: array, items: {type: string}}`, `1`, "must be a list"},
		{`{type: object}`, `1`, "must be an object with fields"},
		{`{type: string, format: date-time}`, `soon`, "must be a time, such as 2026-01-31T12:00:00Z"},
		{`{type: string}`, `true`, "must be text: put it in quotes"},
		{`{type: string}`, `[]`, "must be text"},
		{`{x-kubernetes-int-or-string: true}`, `1.5`, "must be a whole number or text: put it in quotes"},
		{`{x-kubernetes-int-or-string: true}`, `[]`, "must be a whole number or text"},
		{`{type: object, required: [y]}`, `{}`, "is required"},
		{`{type: string, maxLength: 3}`, `aaaa`, "use at most 3 characters"},
		{`{type: string, maxLength: 1}`, `aaaa`, "use one character"},
		{`{type: string, minLength: 3}`, `a`, "use at least 3 characters"},
		{`{type: string, minLength: 1}`, `""`, "cannot be empty"},
		{`{type: string, pattern: "^[0-9]{12}$"}`, `a`, "use the 12 digits of an AWS account"},
		{`{type: string, pattern: "^a$"}`, `b`, "does not have the right form: it must match ^a$"},
		{
			`{type: string, minLength: 3, pattern: "^sg-[0-9a-z]+$"}`, `a`,
			"use at least 3 characters",
		},
		{`{type: string, enum: [A, B]}`, `C`, "choose one of: A, B"},
		{`{type: integer, maximum: 1209600}`, `1209601`, "use 1209600 or less"},
		{`{type: integer, minimum: -1}`, `-2`, "use -1 or more"},
		{`{type: number, minimum: 0.5}`, `0.2`, "use 0.5 or more"},
		{`{type: array, maxItems: 2, items: {type: string}}`, `[a, b, c]`, "use at most 2 entries"},
		{`{type: array, maxItems: 1, items: {type: string}}`, `[a, b]`, "use one entry at most"},
		{`{type: array, minItems: 1, items: {type: string}}`, `[]`, "add at least one entry"},
		{`{type: object, maxProperties: 1, additionalProperties: {type: string}}`, `{a: b, c: d}`, "use one entry at most"},
		{`{type: object, minProperties: 2, additionalProperties: {type: string}}`, `{a: b}`, "add at least 2 entries"},
		{
			`{type: object, additionalProperties: {type: string}, allOf: [{maxProperties: 3}, {maxProperties: 1}]}`,
			`{a: b, c: d, e: f, g: h}`, "use one entry at most",
		},
		{`{type: object, properties: {y: {type: string}}}`, `{z: a}`, "no such field: check the spelling"},
		{`{type: object, additionalProperties: {type: string, maxLength: 2}}`, `{"my.key/x": aaa}`, "use at most 2 characters"},
	} {
		k := ofSpec(t, "{x: "+c.schema+"}")
		var got []string
		for _, e := range FromStatus(k, k.Check(app(t, "{x: "+c.value+"}"), nil)) {
			got = append(got, e.Message)
		}
		if got := strings.Join(got, " | "); got != c.want+" | "+Unchecked {
			t.Errorf("%s: %s is refused with %q, want %q", c.schema, c.value, got, c.want)
		}
	}
}

// TestEveryLimitOfOurSchemasHasOurWords breaks each one, so that a new kind of limit, or a new message of the
// validation library, fails.
func TestEveryLimitOfOurSchemasHasOurWords(t *testing.T) {
	broken := 0
	for _, k := range load(t) {
		spec := k.source.unpacked().shape.fields["spec"]
		eachShape(spec, apifield.NewPath("spec"), func(path *apifield.Path, s *shape) {
			for _, value := range badValues(s) {
				faults, _ := s.faults(path, value)
				broken += len(faults)
				err := apierrors.NewInvalid(k.GVK().GroupKind(), "x", faults)
				for _, e := range FromStatus(k, err) {
					if raw.MatchString(e.Message) || strings.Contains(e.Message, "must match") {
						t.Errorf("%s %s: %v is refused with %q", k.Name, path, value, e.Message)
					}
				}
			}
		})
	}
	if broken < 5000 {
		t.Errorf("only %d values were refused", broken)
	}
}

func eachShape(s *shape, path *apifield.Path, do func(*apifield.Path, *shape)) {
	do(path, s)
	for name, f := range s.fields {
		eachShape(f, path.Child(name), do)
	}
	if s.items != nil {
		eachShape(s.items, path.Index(1), do)
	}
	if s.others != nil {
		eachShape(s.others, path.Key("my.key"), do)
	}
}

// badValues returns values of every type, and those just outside of the schema's limits.
func badValues(s *shape) []any {
	many := map[string]any{}
	for i := range 50 {
		many[fmt.Sprint("k", i)] = "v"
	}
	all := []any{
		nil, true, 3.5, int64(3e9), "?! /", "", "A_",
		[]any{},
		[]any{true},
		map[string]any{},
		map[string]any{"x": true},
		many,
	}
	is := s.itself().Schema
	if is.MaxLength != nil {
		all = append(all, strings.Repeat("a", int(*is.MaxLength)+1))
	}
	if is.MinLength != nil && *is.MinLength > 0 {
		all = append(all, strings.Repeat("a", int(*is.MinLength)-1))
	}
	if is.Minimum != nil {
		all = append(all, int64(*is.Minimum)-1)
	}
	if is.Maximum != nil {
		all = append(all, int64(*is.Maximum)+1)
	}
	if is.MaxItems != nil {
		all = append(all, make([]any, *is.MaxItems+1))
	}
	return all
}

// TestTheComplaintsOfKubernetesAreInOurWords provokes the API server's errors about what users write of metadata.
func TestTheComplaintsOfKubernetesAreInOurWords(t *testing.T) {
	long, path := strings.Repeat("a", 300), apifield.NewPath("metadata")
	found := 0
	for _, value := range []string{
		"", " ", "A_", "-", "a.b", ".", "..", "..a", "a=b", "9 9", long, "a/b/c", "/a", "a/", "_/a", long + "/a",
		"a--b", "-a", "99", "a%", "a/b", "ü",
	} {
		for _, meta := range []metav1.ObjectMeta{
			{Name: value},
			{Name: "a", Labels: map[string]string{value: "b"}},
			{Name: "a", Labels: map[string]string{"b": value}},
			{Name: "a", Annotations: map[string]string{value: strings.Repeat(long, len(value)*10)}},
		} {
			for _, e := range validation.ValidateObjectMeta(&meta, false, validation.NameIsDNSSubdomain, path) {
				found++
				got := Kind{}.fromCause(causeOf(metav1.StatusCause{
					Type: metav1.CauseType(e.Type), Field: e.Field, Message: e.ErrorBody(),
				}))
				if got.Message == "" || raw.MatchString(got.Message) ||
					strings.Contains(got.Message, e.Detail) {
					t.Errorf("%q becomes %q", e.ErrorBody(), got.Message)
				}
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d values were complained about", found)
	}
}

// TestMessagesOfCausesWithoutASchema: what has no limit of ours is in the API server's own words.
func TestMessagesOfCausesWithoutASchema(t *testing.T) {
	path := apifield.NewPath("spec", "x")
	for _, e := range []*apifield.Error{
		apifield.Required(path, ""), apifield.Duplicate(path, "a"), apifield.NotFound(path, "a"),
		apifield.NotSupported(path, "a", []string{"b", "c"}), apifield.Forbidden(path, ""),
		apifield.Invalid(path, 1, ""), apifield.TypeInvalid(path, 1, ""), apifield.TooLong(path, "", -1),
	} {
		got := Kind{}.fromCause(causeOf(metav1.StatusCause{
			Type: metav1.CauseType(e.Type), Field: "spec.x", Message: e.ErrorBody(),
		}))
		if got.Message == "" || raw.MatchString(got.Message) ||
			strings.Contains(got.Message, e.Type.String()) {
			t.Errorf("%q becomes %q", e.ErrorBody(), got.Message)
		}
	}
}
