package check

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What a policy matches is one value to server-side apply, with what the API server fills in: spelt out, Helm and
// kubectl apply what portico check --fix has brought, and get no conflict.
func TestPoliciesSpellOutWhatTheAPIServerFillsIn(t *testing.T) {
	all, err := Names{}.policies()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, o := range all {
		for _, field := range []string{"matchConstraints", "matchResources"} {
			match, ok, err := unstructured.NestedMap(o.Object, "spec", field)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				continue
			}
			found++
			for _, key := range []string{"matchPolicy", "namespaceSelector", "objectSelector"} {
				if match[key] == nil {
					t.Errorf("%s %s lacks spec.%s.%s", o.GetKind(), o.GetName(), field, key)
				}
			}
			rules, _ := match["resourceRules"].([]any)
			for _, rule := range rules {
				if rule.(map[string]any)["scope"] == nil {
					t.Errorf("%s %s has a rule in spec.%s without scope", o.GetKind(), o.GetName(), field)
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("%d places were found", found)
	}
}
