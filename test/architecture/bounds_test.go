package architecture

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// unbounded has the fields of Kubernetes types without limits, with the reason why they are acceptable.
var unbounded = map[string]string{
	"AWSProvider.spec.allowedNamespaces": "a label selector of Kubernetes, which admins write",
}

// TestEverySpecIsBounded checks that each list, map and string that users can write has a limit, so that the schema
// limits what an object costs the API server, the portal and the operator. The status is exempt, because only the
// operator writes it, through a subresource.
func TestEverySpecIsBounded(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil || len(files) < 14 {
		t.Fatalf("%d CRDs: %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiext.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			t.Fatal(err)
		}
		for _, v := range crd.Spec.Versions {
			for name, p := range v.Schema.OpenAPIV3Schema.Properties {
				if !slices.Contains([]string{"status", "metadata", "apiVersion", "kind"}, name) {
					for _, at := range withoutBounds(crd.Spec.Names.Kind+"."+name, &p) {
						i := slices.IndexFunc(exceptions(), func(e string) bool { return strings.HasPrefix(at, e) })
						if i < 0 {
							t.Errorf("%s has no limit: give it MaxItems, MaxProperties or MaxLength", at)
							continue
						}
						seen[exceptions()[i]] = true
					}
				}
			}
		}
	}
	for _, e := range exceptions() {
		if !seen[e] {
			t.Errorf("%s is bounded: take it off the list of exceptions", e)
		}
	}
}

func exceptions() []string {
	all := make([]string, 0, len(unbounded))
	for at := range unbounded {
		all = append(all, at)
	}
	return all
}

// withoutBounds returns the paths of the fields below at that have no limit.
func withoutBounds(at string, s *apiext.JSONSchemaProps) (all []string) {
	limits := func(of func(*apiext.JSONSchemaProps) *int64) bool {
		return of(s) != nil || slices.ContainsFunc(s.AllOf, func(a apiext.JSONSchemaProps) bool {
			return of(&a) != nil
		})
	}
	bounded := true
	switch {
	case s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
		bounded = false
	case s.Type == "array":
		bounded = limits(func(s *apiext.JSONSchemaProps) *int64 { return s.MaxItems })
		all = append(all, withoutBounds(at+"[]", s.Items.Schema)...)
	case s.AdditionalProperties != nil:
		bounded = limits(func(s *apiext.JSONSchemaProps) *int64 { return s.MaxProperties })
		all = append(all, withoutBounds(
			at+"{}", cmp.Or(s.AdditionalProperties.Schema, &apiext.JSONSchemaProps{Type: "string"}))...)
	case s.Type == "string" || s.XIntOrString:
		bounded = len(s.Enum) > 0 || s.Format == "date-time" ||
			limits(func(s *apiext.JSONSchemaProps) *int64 { return s.MaxLength })
	}
	if !bounded {
		all = append(all, at)
	}
	for name, p := range s.Properties {
		all = append(all, withoutBounds(at+"."+name, &p)...)
	}
	return all
}
