package policy_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/config/policy"
)

// all returns the policies of this package, by name.
func all(t *testing.T) map[string]admissionv1.ValidatingAdmissionPolicy {
	t.Helper()
	found := map[string]admissionv1.ValidatingAdmissionPolicy{}
	files, err := fs.Glob(policy.Files, "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := policy.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var p admissionv1.ValidatingAdmissionPolicy
			if err := yaml.Unmarshal([]byte(document), &p); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if p.Kind == "ValidatingAdmissionPolicy" {
				found[p.Name] = p
			}
		}
	}
	return found
}

// Labels and annotations of these can be written through each of their subresources. Those of custom resources cannot:
// a write of their status changes nothing else. Neither can those of a kind that has no subresource.
var throughSubresources = []string{
	"namespaces", "pods", "services", "nodes", "persistentvolumeclaims",
	"serviceaccounts",
}

// A policy that judges what is updated judges it by every way.
func TestPoliciesMatchEverySubresource(t *testing.T) {
	judged := 0
	for name, p := range all(t) {
		for _, rule := range p.Spec.MatchConstraints.ResourceRules {
			if !slices.Contains(rule.Operations, admissionv1.Update) &&
				!slices.Contains(rule.Operations, admissionv1.OperationAll) {
				continue
			}
			for _, resource := range rule.Resources {
				if !slices.Contains(throughSubresources, resource) {
					continue
				}
				judged++
				if !slices.Contains(rule.Resources, resource+"/*") && !slices.Contains(rule.Resources, "*/*") {
					t.Errorf("%s matches %q: anyone who may write a subresource of %s goes round it; add %s/*", name,
						rule.Resources, resource, resource)
				}
				if i := slices.IndexFunc(rule.Resources, func(r string) bool {
					return strings.HasPrefix(r, resource+"/") && r != resource+"/*"
				}); i >= 0 {
					t.Errorf("%s names %s: %s/* has it, and those of later versions of Kubernetes", name,
						rule.Resources[i], resource)
				}
			}
		}
	}
	if judged < 2 {
		t.Errorf("%d rules about namespaces were found, and there are two at least", judged)
	}
}
