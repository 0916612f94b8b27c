package catalog

import (
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/config/crd"
)

// The API server's messages about rules that it could not check, from its source.
func TestRulesThatCannotBeCheckedAreExplained(t *testing.T) {
	for message, want := range map[string]string{
		"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation":                                  Unchecked,
		"validation failed due to running out of cost budget, no further validation rules will be run":                                                               "is too large to be checked: make it smaller",
		"'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: a tag key has 1 to 128": "is too large to be checked: make it smaller",
		"runtime cost could not be calculated for validation rule: x, no further validation rules will be run":                                                       "could not be checked: try again",
		"no such key: a evaluating rule: set a or b": "could not be checked: set a or b",
		"'no such overload': call arguments did not match a supported operator, function or macro signature for rule: set a": "could not be checked: set a",
		"rule compile error: compilation failed": "has a rule that cannot be checked: tell a " +
			"platform admin",
		"rule compiler initialization error: x": "has a rule that cannot be checked: tell a " +
			"platform admin",
		"failed rule: self.a > 1": "breaks the rule self.a > 1",
		// of our own rules
		"use lower-case letters, digits, dots and hyphens": "use lower-case letters, digits, dots and hyphens",
	} {
		if got := (Kind{}).message(cause{is: metav1.CauseTypeFieldValueInvalid, detail: message}); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}

func TestAQuotaThatIsUsedUpIsSaidPlainly(t *testing.T) {
	got := QuotaWords(
		`s3buckets.portico.dev "logs" is forbidden: exceeded quota: few, requested: count/s3buckets.portico.dev=1, used: count/s3buckets.portico.dev=3, limited: count/s3buckets.portico.dev=3`)
	if want := `s3buckets.portico.dev "logs" is forbidden: the quota few has no room for count/s3buckets.portico.dev=1: count/s3buckets.portico.dev=3 is used, and count/s3buckets.portico.dev=3 is the limit`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if words := "only hostnames below example.com are granted"; QuotaWords(words) != words {
		t.Errorf("a policy's words became %q", QuotaWords(words))
	}
}

// Every pattern of our schemas has a description, because nobody reads regular expressions. Messages of our rules stay
// unchanged.
func TestOurSchemasSpeakOurWords(t *testing.T) {
	all, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	kinds, seen := load(t), map[string]bool{}
	for _, one := range all {
		k, _ := kinds.ByName(one.Spec.Names.Kind)
		eachSchema(*one.Spec.Versions[0].Schema.OpenAPIV3Schema, "", func(path string, s apiext.JSONSchemaProps) {
			for _, r := range s.XValidations {
				at := strings.TrimPrefix(path, ".")
				c := cause{is: metav1.CauseTypeFieldValueInvalid, field: at, detail: r.Message}
				if got := k.message(c); got != r.Message {
					t.Errorf("a rule of %s%s says %q, which becomes %q", one.Spec.Names.Kind, path, r.Message, got)
				}
			}
			if s.Pattern == "" || strings.HasPrefix(path, ".status") {
				return
			}
			seen[s.Pattern] = true
			if strings.Contains(formOf(s.Pattern), "must match") {
				t.Errorf("%s%s has a pattern without words: %s", one.Spec.Names.Kind, path, s.Pattern)
			}
		})
	}
	for pattern := range forms {
		if !seen[pattern] {
			t.Errorf("no schema has the pattern %s any more", pattern)
		}
	}
}

func eachSchema(s apiext.JSONSchemaProps, path string, do func(path string, s apiext.JSONSchemaProps)) {
	do(path, s)
	for name, p := range s.Properties {
		eachSchema(p, path+"."+name, do)
	}
	if s.Items != nil && s.Items.Schema != nil {
		eachSchema(*s.Items.Schema, path+"[]", do)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		eachSchema(*s.AdditionalProperties.Schema, path+"{}", do)
	}
	for _, p := range s.AllOf {
		eachSchema(p, path, do)
	}
}
