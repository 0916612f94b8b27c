package catalog

import (
	"errors"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestFromStatus(t *testing.T) {
	kind := ofSpec(t, `{"n": {type: integer, minimum: 1}, bucketName: {type: string, maxLength: 63},
		tags: {type: object, maxProperties: 40, additionalProperties: {type: string}},
		zones: {type: array, minItems: 1, items: {type: string}}, "y": {type: string, minLength: 3}}`)
	cause := func(kind metav1.CauseType, field, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Reason:  metav1.StatusReasonInvalid,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: kind, Field: field, Message: message}}},
		}}
	}
	for _, c := range []struct {
		reason string
		err    error
		want   FieldErrors
	}{
		{
			"a CEL rule with the value", cause(metav1.CauseTypeFieldValueInvalid, "spec.bucketName",
				`Invalid value: "Bad_Name": use lower-case letters`),
			FieldErrors{{"spec.bucketName", "use lower-case letters", "Bad_Name"}},
		},
		{
			"a value with quotes and colons",
			cause(metav1.CauseTypeFieldValueInvalid, "spec.x", `Invalid value: "a\": b": must not`),
			FieldErrors{{"spec.x", "must not", `a": b`}},
		},
		{
			"an object as value", cause(metav1.CauseTypeFieldValueInvalid, "spec.encryption",
				`Invalid value: {"algorithm":"aws:kms"}: kmsKeyID is required with aws:kms`),
			FieldErrors{{"spec.encryption", "kmsKeyID is required with aws:kms", `{"algorithm":"aws:kms"}`}},
		},
		{
			"a number", cause(metav1.CauseTypeFieldValueInvalid, "spec.n",
				`Invalid value: 0: spec.n in body should be greater than or equal to 1`),
			FieldErrors{{"spec.n", "use 1 or more", "0"}},
		},
		{
			"an unknown field of a patch", cause(metav1.CauseTypeFieldValueInvalid, "patch",
				`Invalid value: "{\"metadata\":{}}": strict decoding error: unknown field "spec.x"`),
			FieldErrors{{"spec.x", "no such field: check the spelling", ""}},
		},
		{
			"a patch that cannot be applied", cause(metav1.CauseTypeFieldValueInvalid, "patch",
				`Invalid value: "{\"metadata\":{}}": cannot restore slice from map`),
			FieldErrors{{"", "cannot restore slice from map", ""}},
		},
		{
			"required", cause(metav1.CauseTypeFieldValueRequired, "spec.providerRef", "Required value"),
			FieldErrors{{"spec.providerRef", "is required", ""}},
		},
		{
			"an enum", cause(metav1.CauseTypeFieldValueNotSupported, "spec.versioning",
				`Unsupported value: "On": supported values: "Enabled", "Suspended"`),
			FieldErrors{{"spec.versioning", "choose one of: Enabled, Suspended", "On"}},
		},
		{
			"a duplicate", cause(metav1.CauseTypeFieldValueDuplicate, "spec.l[1]", `Duplicate value: "x"`),
			FieldErrors{{"spec.l[1]", "is there twice: keep one", "x"}},
		},
		{
			"too long", cause(metav1.CauseTypeTooLong, "spec.bucketName", "Too long: may not be more than 63 bytes"),
			FieldErrors{{"spec.bucketName", "use at most 63 characters", ""}},
		},
		{
			"too many", cause(metav1.CauseTypeTooMany, "spec.tags", "Too many: 41: must have at most 40 items"),
			FieldErrors{{"spec.tags", "use at most 40 entries", "41"}},
		},
		{
			"the whole object", cause(metav1.CauseTypeFieldValueInvalid, "<nil>",
				"Invalid value: null: set a or b"),
			FieldErrors{{"", "set a or b", ""}},
		},
		{
			"too few", cause("FieldValueTooFew", "spec.zones", "Too few: 0: must have at least 1 item"),
			FieldErrors{{"spec.zones", "add at least one entry", "0"}},
		},
		{
			"too short", cause("FieldValueTooShort", "spec.y", "Too short: must have at least 3 characters"),
			FieldErrors{{"spec.y", "use at least 3 characters", ""}},
		},
		{
			"not found", cause(metav1.CauseTypeFieldValueNotFound, "spec.x", `Not found: "shop"`),
			FieldErrors{{"spec.x", "does not exist", "shop"}},
		},
		{
			"forbidden without a word", cause(metav1.CauseTypeForbidden, "spec.x", "Forbidden"),
			FieldErrors{{"spec.x", "cannot be set here", ""}},
		},
		{
			"invalid without a word", cause(metav1.CauseTypeFieldValueInvalid, "spec.x", `Invalid value: "a"`),
			FieldErrors{{"spec.x", "is not valid", "a"}},
		},
		{
			"a label, of many", cause(metav1.CauseTypeFieldValueInvalid, "metadata.labels",
				`Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`),
			FieldErrors{{
				"metadata.labels",
				`"a b": use letters, digits, hyphens, underscores and dots; start and end with a letter or a digit`,
				"a b",
			}},
		},
		{
			"a name", cause(metav1.CauseTypeFieldValueInvalid, "metadata.name",
				`Invalid value: "My_Bucket": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`),
			FieldErrors{{"metadata.name", "use lower-case letters, digits, hyphens and dots; start and end with a " +
				"letter or a digit", "My_Bucket"}},
		},
		{
			"a webhook's own words", cause(metav1.CauseTypeFieldValueInvalid, "spec.x", "the bucket is taken"),
			FieldErrors{{"spec.x", "the bucket is taken", ""}},
		},
		{
			"unknown fields", apierrors.NewBadRequest(
				`strict decoding error: unknown field "spec.bucketname", duplicate field "spec.a"`),
			FieldErrors{
				{"spec.bucketname", "no such field: check the spelling", ""},
				{"spec.a", "is there twice: keep one", ""},
			},
		},
		{"another bad request", apierrors.NewBadRequest("no"), nil},
		{"another error", errors.New("no"), nil},
		{"a conflict", apierrors.NewConflict(schema.GroupResource{Resource: "x"}, "x", errors.New("no")), nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if got := FromStatus(kind, c.err); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestPlace(t *testing.T) {
	inputs := []string{
		"metadata.name", "spec.providerRef.name", "spec.bucketName", "spec.encryption.algorithm",
		"spec.encryption.kmsKeyID",
		"spec.lifecycleRules[0].expirationDays", "spec.tags", "spec.region",
	}
	for _, c := range []struct {
		reason string
		err    FieldError
		at     string // "" on top
	}{
		{"its own input", FieldError{Field: "spec.bucketName", Message: "m"}, "spec.bucketName"},
		{"a group, by the name in front", FieldError{Field: "spec.encryption", Message: "kmsKeyID is required"}, "spec.encryption.kmsKeyID"},
		{"a group, otherwise", FieldError{Field: "spec.encryption", Message: "m"}, "spec.encryption.algorithm"},
		{"a missing group", FieldError{Field: "spec.providerRef", Message: "is required"}, "spec.providerRef.name"},
		{"a list", FieldError{Field: "spec.lifecycleRules", Message: "m"}, "spec.lifecycleRules[0].expirationDays"},
		{"deeper than any input", FieldError{Field: "spec.tags.aws:x", Message: "m"}, "spec.tags"},
		{"spec, by the name in front", FieldError{Field: "spec", Message: "region is immutable: m"}, "spec.region"},
		{"spec, by a name further on", FieldError{Field: "spec", Message: "set either arn or bucketName, not both"}, "spec.bucketName"},
		{"spec, by no word that is no name", FieldError{Field: "spec", Message: "choose a region, and tags"}, ""},
		{"spec", FieldError{Field: "spec", Message: "m"}, ""},
		{"nowhere", FieldError{Field: "", Message: "m"}, ""},
		{"not shown", FieldError{Field: "spec.versioning", Message: "m"}, ""},
		{"a name that only begins the same", FieldError{Field: "spec.bucket", Message: "m"}, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			byInput, rest := FieldErrors{c.err}.Place(inputs)
			if c.at == "" {
				if len(byInput) != 0 || len(rest) != 1 {
					t.Errorf("%v, %v: want it on top", byInput, rest)
				}
				return
			}
			if len(byInput[c.at]) != 1 || len(rest) != 0 {
				t.Errorf("%v, %v: want it at %s", byInput, rest, c.at)
			}
		})
	}
}
