package awslimits_test

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/test/awslimits"
)

var update = flag.Bool("update", false, "write docs/aws-limits.md again")

func TestThePageOfLimitsIsWhole(t *testing.T) {
	const file = "../../docs/aws-limits.md"
	if *update {
		if err := os.WriteFile(file, []byte(awslimits.Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != awslimits.Page() {
		t.Errorf("%s is not what the rows say: run go test ./test/awslimits -update (%v)", file, err)
	}
	seen := map[string]bool{}
	for _, r := range awslimits.Rows() {
		if seen[r.Name] || r.Page == "" || r.Says == "" {
			t.Errorf("%s is there twice, or lacks its page or our sentence", r.Name)
		}
		seen[r.Name] = true
	}
}

// TestAllTagsHaveTheRule on their characters, but for those of machines, of which EC2 takes any.
func TestAllTagsHaveTheRule(t *testing.T) {
	all, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, kind := range all {
		for path, tags := range tagsIn(kind.Spec.Versions[0].Schema.OpenAPIV3Schema, kind.Spec.Names.Kind) {
			n++
			if has := slices.ContainsFunc(tags.XValidations, func(r apiextensionsv1.ValidationRule) bool {
				return strings.HasPrefix(r.Message, "AWS takes letters, digits, spaces")
			}); has == (kind.Spec.Names.Kind == v1alpha1.KindEC2Instance) {
				t.Errorf("%s has the rule: %v", path, has)
			}
		}
	}
	if n != 9 {
		t.Errorf("%d fields are tags, want 9", n)
	}
}

// tagsIn returns the schemas of the type Tags, by their paths.
func tagsIn(s *apiextensionsv1.JSONSchemaProps, at string) map[string]*apiextensionsv1.JSONSchemaProps {
	all := map[string]*apiextensionsv1.JSONSchemaProps{}
	for name := range s.Properties {
		p := s.Properties[name]
		inner := p.AdditionalProperties
		if inner != nil && inner.Schema != nil && strings.HasPrefix(inner.Schema.Description, "TagValue ") {
			all[at+"."+name] = &p
		}
		maps.Copy(all, tagsIn(&p, at+"."+name))
	}
	return all
}
