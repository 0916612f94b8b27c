package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// named finds an object of this version.
func named(t *testing.T, all []*object, err error, kind, name string) *object {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(o *object) bool { return o.GetKind() == kind && o.GetName() == name })
	if at < 0 {
		t.Fatalf("no %s %s among %d objects", kind, name, len(all))
	}
	return all[at].DeepCopy()
}

// set changes one member of an object.
func set(o *object, value any, path ...string) {
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		panic(err) // the test is wrong
	}
}

// elements returns a list of an object, to be changed in place.
func elements(o *object, path ...string) []any {
	list, found, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil || !found {
		panic(fmt.Sprintf("%v: %v, %v", path, found, err)) // the test is wrong
	}
	return list.([]any)
}

func TestAWeakenedPolicyIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		kind, of string
		change   func(o *object)
		says     string // "": it is as strict
	}{
		"as it was brought": {"ValidatingAdmissionPolicy", "portico-operator", func(*object) {}, ""},
		"defaults filled in": {"ValidatingAdmissionPolicy", "portico-operator", func(o *object) {
			set(o, "Equivalent", "spec", "matchConstraints", "matchPolicy")
			set(o, map[string]any{}, "spec", "matchConstraints", "namespaceSelector")
			elements(o, "spec", "matchConstraints", "resourceRules")[0].(map[string]any)["scope"] = "*"
		}, ""},
		"other words": {"ValidatingAdmissionPolicy", "portico-operator", func(o *object) {
			elements(o, "spec", "validations")[0].(map[string]any)["messageExpression"] = "'no'"
		}, ""},
		"one rule more": {"ValidatingAdmissionPolicy", "portico-namespaces", func(o *object) {
			set(o, append(elements(o, "spec", "validations"), map[string]any{"expression": "false"}), "spec",
				"validations")
		}, ""},
		"failures let pass": {"ValidatingAdmissionPolicy", "portico-namespaces", func(o *object) {
			set(o, "Ignore", "spec", "failurePolicy")
		}, "has spec.failurePolicy Ignore instead of Fail"},
		"a rule less": {"ValidatingAdmissionPolicy", "portico-operator", func(o *object) {
			set(o, elements(o, "spec", "validations")[1:], "spec", "validations")
		}, "has another spec.validations"},
		"a rule that allows all": {"ValidatingAdmissionPolicy", "portico-operator", func(o *object) {
			elements(o, "spec", "validations")[2].(map[string]any)["expression"] = "true"
		}, "has another spec.validations"},
		"a variable that says something else": {"ValidatingAdmissionPolicy", "portico-operator", func(o *object) {
			elements(o, "spec", "variables")[0].(map[string]any)["expression"] = "''"
		}, "has another spec.variables"},
		"a condition that excepts somebody": {"ValidatingAdmissionPolicy", "portico-namespaces", func(o *object) {
			set(o, []any{map[string]any{"name": "not-me", "expression": "request.userInfo.username != 'me'"}}, "spec",
				"matchConditions")
		}, "has spec.matchConditions, which this version has not"},
		"fewer namespaces": {"ValidatingAdmissionPolicy", "portico-namespaces", func(o *object) {
			set(o, map[string]any{"a": "b"}, "spec", "matchConstraints", "namespaceSelector", "matchLabels")
		}, "has spec.matchConstraints.namespaceSelector, which this version has not"},
		"fewer operations": {"ValidatingAdmissionPolicy", "portico-route-hostnames", func(o *object) {
			elements(o, "spec", "matchConstraints", "resourceRules")[0].(map[string]any)["operations"] = []any{"CREATE"}
		}, "has another spec.matchConstraints.resourceRules"},
		"no parameter": {"ValidatingAdmissionPolicy", "portico-route-hostnames", func(o *object) {
			unstructured.RemoveNestedField(o.Object, "spec", "paramKind")
		}, "lacks spec.paramKind.apiVersion, lacks spec.paramKind.kind"},
		"a binding that warns too": {"ValidatingAdmissionPolicyBinding", "portico-operator", func(o *object) {
			set(o, []any{"Audit", "Deny"}, "spec", "validationActions")
		}, ""},
		"a binding that only warns": {"ValidatingAdmissionPolicyBinding", "portico-operator", func(o *object) {
			set(o, []any{"Warn"}, "spec", "validationActions")
		}, "has another spec.validationActions"},
		"a binding that lets pass without a grant": {
			"ValidatingAdmissionPolicyBinding", "portico-route-hostnames",
			func(o *object) {
				set(o, "Allow", "spec", "paramRef", "parameterNotFoundAction")
			}, "has spec.paramRef.parameterNotFoundAction Allow instead of Deny",
		},
		"a binding of another policy": {"ValidatingAdmissionPolicyBinding", "portico-operator", func(o *object) {
			set(o, "other", "spec", "policyName")
		}, "has spec.policyName other instead of portico-operator"},
		"a binding with more exceptions": {
			"ValidatingAdmissionPolicyBinding", "portico-route-hostnames",
			func(o *object) {
				set(o, []any{}, "spec", "matchResources", "namespaceSelector", "matchExpressions")
			}, "lacks spec.matchResources.namespaceSelector.matchExpressions",
		},
		"a mutation that does nothing": {"MutatingAdmissionPolicy", "portico-requested-by", func(o *object) {
			elements(o, "spec", "mutations")[0].(map[string]any)["jsonPatch"] = map[string]any{"expression": "[]"}
		}, "has another spec.mutations"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Names{}.policies()
			want := named(t, all, err, c.kind, c.of)
			have := want.DeepCopy()
			c.change(have)
			got := weaker("spec", meaning(want.Object["spec"]), meaning(have.Object["spec"]))
			if joined := strings.Join(got, ", "); joined != c.says {
				t.Errorf("got %q, want %q", joined, c.says)
			}
		})
	}
}

func TestAnOldCRDIsTold(t *testing.T) {
	version := func(o *object) map[string]any {
		return elements(o, "spec", "versions")[0].(map[string]any)
	}
	fields := func(o *object, path ...string) map[string]any {
		at, found, err := unstructured.NestedFieldNoCopy(
			version(o), append([]string{"schema", "openAPIV3Schema"}, path...)...)
		if err != nil || !found {
			panic(fmt.Sprintf("%v: %v, %v", path, found, err)) // the test is wrong
		}
		return at.(map[string]any)
	}
	for name, c := range map[string]struct {
		change func(o *object)
		says   string
	}{
		"as it was brought": {func(*object) {}, ""},
		"a field more": {func(o *object) {
			fields(o, "properties", "spec", "properties")["newer"] = map[string]any{"type": "string"}
		}, ""},
		"a field less": {func(o *object) {
			delete(fields(o, "properties", "spec", "properties"), "versioning")
		}, "lacks .spec.versioning"},
		"a field less in a list": {func(o *object) {
			delete(fields(o, "properties", "status", "properties", "conditions", "items", "properties"), "reason")
		}, "lacks .status.conditions[].reason"},
		"another type": {func(o *object) {
			fields(o, "properties", "spec", "properties", "versioning")["type"] = "boolean"
		}, "has .spec.versioning as boolean instead of string"},
		"many fields less": {func(o *object) {
			fields(o, "properties", "spec")["properties"] = map[string]any{}
		}, "and "},
		"no status": {func(o *object) { delete(version(o), "subresources") }, "lacks a subresource"},
		"not served": {func(o *object) {
			version(o)["served"] = false
		}, "does not serve v1alpha1"},
		"another scope":  {func(o *object) { set(o, "Cluster", "spec", "scope") }, "is Cluster instead of Namespaced"},
		"not served yet": {func(o *object) { delete(o.Object, "status") }, "is not served yet"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Names{}.crds()
			want := named(t, all, err, "CustomResourceDefinition", "s3buckets.portico.dev")
			have := want.DeepCopy()
			set(have, []any{map[string]any{"type": "Established", "status": "True"}}, "status", "conditions")
			c.change(have)
			got := brief(lacks(want, have))
			if c.says == "" && got != "" || !strings.Contains(got, c.says) {
				t.Errorf("got %q, want %q", got, c.says)
			}
		})
	}
}

func TestNamesOfAnInstallation(t *testing.T) {
	all, err := Names{Namespace: "platform", Gateways: "edge"}.policies()
	o := named(t, all, err, "ValidatingAdmissionPolicyBinding", "portico-route-hostnames")
	text, err := o.MarshalJSON()
	if err != nil || !strings.Contains(string(text), `["kube-system","platform","edge"]`) {
		t.Errorf("%s, %v", text, err)
	}
	rights, err := Names{Namespace: "platform"}.rights()
	if o := named(t, rights, err, "ServiceAccount", "portico-portal"); o.GetNamespace() != "platform" {
		t.Errorf("it is in %s", o.GetNamespace())
	}
}
