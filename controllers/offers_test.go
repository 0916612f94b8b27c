package controllers

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/controllers/offers"
)

// TestFormsAskForWhatIsListed compares the CRDs' annotation, which the portal reads, with the lists of the operator.
func TestFormsAskForWhatIsListed(t *testing.T) {
	for kind, fields := range offered {
		text, err := os.ReadFile("../config/crd/bases/portico.dev_" + strings.ToLower(kind) + "s.yaml")
		if err != nil {
			t.Fatal(err)
		}
		var crd apiext.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		if got, want := crd.Annotations["portico.dev/offers"], annotation(fields); got != want {
			t.Errorf("%s says portico.dev/offers=%s, want %s", kind, got, want)
		}
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
		for name, field := range fields {
			p, ok := spec[name]
			if !ok || field.Many != (p.Type == "array") {
				t.Errorf("%s of %s: %t, and a list: %t", name, kind, ok, field.Many)
			}
			for _, by := range field.By {
				if _, ok := spec[by]; !ok {
					t.Errorf("%s of %s goes by %s, which is no field", name, kind, by)
				}
			}
		}
	}
}

func annotation(fields offers.Fields) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field := fields[name]
		if field.Whole {
			name += "!"
		}
		if by := field.By; len(by) > 0 {
			name += "=" + strings.Join(by, ",")
		}
		all = append(all, name)
	}
	return strings.Join(all, "|")
}
