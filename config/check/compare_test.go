package check

import (
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
func set(t *testing.T, o *object, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

// elements returns a list of an object, to be changed in place.
func elements(t *testing.T, o *object, path ...string) []any {
	t.Helper()
	list, found, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil || !found {
		t.Fatalf("%v: %v, %v", path, found, err)
	}
	return list.([]any)
}

func TestAWeakenedPolicyIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		kind, of string
		change   func(t *testing.T, o *object)
		says     string // "": it is as strict
	}{
		"as it was brought": {"ValidatingAdmissionPolicy", "portico-operator", func(*testing.T, *object) {}, ""},
		"defaults filled in": {"ValidatingAdmissionPolicy", "portico-operator", func(t *testing.T, o *object) {
			set(t, o, "Equivalent", "spec", "matchConstraints", "matchPolicy")
			set(t, o, map[string]any{}, "spec", "matchConstraints", "namespaceSelector")
			elements(t, o, "spec", "matchConstraints", "resourceRules")[0].(map[string]any)["scope"] = "*"
		}, ""},
		"other words": {"ValidatingAdmissionPolicy", "portico-operator", func(t *testing.T, o *object) {
			elements(t, o, "spec", "validations")[0].(map[string]any)["messageExpression"] = "'no'"
		}, ""},
		"one rule more": {"ValidatingAdmissionPolicy", "portico-namespaces", func(t *testing.T, o *object) {
			set(t, o, append(elements(t, o, "spec", "validations"), map[string]any{"expression": "false"}), "spec", "validations")
		}, ""},
		"failures let pass": {"ValidatingAdmissionPolicy", "portico-namespaces", func(t *testing.T, o *object) {
			set(t, o, "Ignore", "spec", "failurePolicy")
		}, "has spec.failurePolicy Ignore instead of Fail"},
		"a rule less": {"ValidatingAdmissionPolicy", "portico-operator", func(t *testing.T, o *object) {
			set(t, o, elements(t, o, "spec", "validations")[1:], "spec", "validations")
		}, "has another spec.validations"},
		"a rule that allows all": {"ValidatingAdmissionPolicy", "portico-operator", func(t *testing.T, o *object) {
			elements(t, o, "spec", "validations")[2].(map[string]any)["expression"] = "true"
		}, "has another spec.validations"},
		"a variable that says something else": {"ValidatingAdmissionPolicy", "portico-operator", func(t *testing.T, o *object) {
			elements(t, o, "spec", "variables")[0].(map[string]any)["expression"] = "''"
		}, "has another spec.variables"},
		"a condition that excepts somebody": {"ValidatingAdmissionPolicy", "portico-namespaces", func(t *testing.T, o *object) {
			set(t, o, []any{map[string]any{"name": "not-me", "expression": "request.userInfo.username != 'me'"}}, "spec", "matchConditions")
		}, "has spec.matchConditions, which this version has not"},
		"fewer namespaces": {"ValidatingAdmissionPolicy", "portico-namespaces", func(t *testing.T, o *object) {
			set(t, o, map[string]any{"a": "b"}, "spec", "matchConstraints", "namespaceSelector", "matchLabels")
		}, "has spec.matchConstraints.namespaceSelector, which this version has not"},
		"fewer operations": {"ValidatingAdmissionPolicy", "portico-route-hostnames", func(t *testing.T, o *object) {
			elements(t, o, "spec", "matchConstraints", "resourceRules")[0].(map[string]any)["operations"] = []any{"CREATE"}
		}, "has another spec.matchConstraints.resourceRules"},
		"no parameter": {"ValidatingAdmissionPolicy", "portico-route-hostnames", func(_ *testing.T, o *object) {
			unstructured.RemoveNestedField(o.Object, "spec", "paramKind")
		}, "lacks spec.paramKind.apiVersion, lacks spec.paramKind.kind"},
		"a binding that warns too": {"ValidatingAdmissionPolicyBinding", "portico-operator", func(t *testing.T, o *object) {
			set(t, o, []any{"Audit", "Deny"}, "spec", "validationActions")
		}, ""},
		"a binding that only warns": {"ValidatingAdmissionPolicyBinding", "portico-operator", func(t *testing.T, o *object) {
			set(t, o, []any{"Warn"}, "spec", "validationActions")
		}, "has another spec.validationActions"},
		"a binding that lets pass without a grant": {"ValidatingAdmissionPolicyBinding", "portico-route-hostnames", func(t *testing.T, o *object) {
			set(t, o, "Allow", "spec", "paramRef", "parameterNotFoundAction")
		}, "has spec.paramRef.parameterNotFoundAction Allow instead of Deny"},
		"a binding of another policy": {"ValidatingAdmissionPolicyBinding", "portico-operator", func(t *testing.T, o *object) {
			set(t, o, "other", "spec", "policyName")
		}, "has spec.policyName other instead of portico-operator"},
		"a binding with more exceptions": {"ValidatingAdmissionPolicyBinding", "portico-route-hostnames", func(t *testing.T, o *object) {
			set(t, o, []any{}, "spec", "matchResources", "namespaceSelector", "matchExpressions")
		}, "lacks spec.matchResources.namespaceSelector.matchExpressions"},
		"a mutation that does nothing": {"MutatingAdmissionPolicy", "portico-requested-by", func(t *testing.T, o *object) {
			elements(t, o, "spec", "mutations")[0].(map[string]any)["jsonPatch"] = map[string]any{"expression": "[]"}
		}, "has another spec.mutations"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Names{}.policies()
			want := named(t, all, err, c.kind, c.of)
			have := want.DeepCopy()
			c.change(t, have)
			got := weaker("spec", meaning(want.Object["spec"]), meaning(have.Object["spec"]))
			if joined := strings.Join(got, ", "); joined != c.says {
				t.Errorf("got %q, want %q", joined, c.says)
			}
		})
	}
}

func TestAnOldCRDIsTold(t *testing.T) {
	version := func(t *testing.T, o *object) map[string]any {
		return elements(t, o, "spec", "versions")[0].(map[string]any)
	}
	fields := func(t *testing.T, o *object, path ...string) map[string]any {
		t.Helper()
		at, found, err := unstructured.NestedFieldNoCopy(version(t, o), append([]string{"schema", "openAPIV3Schema"}, path...)...)
		if err != nil || !found {
			t.Fatalf("%v: %v, %v", path, found, err)
		}
		return at.(map[string]any)
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, o *object)
		says   string
	}{
		"as it was brought": {func(*testing.T, *object) {}, ""},
		"a field more": {func(t *testing.T, o *object) {
			fields(t, o, "properties", "spec", "properties")["newer"] = map[string]any{"type": "string"}
		}, ""},
		"a field less": {func(t *testing.T, o *object) {
			delete(fields(t, o, "properties", "spec", "properties"), "versioning")
		}, "lacks .spec.versioning"},
		"a field less in a list": {func(t *testing.T, o *object) {
			delete(fields(t, o, "properties", "status", "properties", "conditions", "items", "properties"), "reason")
		}, "lacks .status.conditions[].reason"},
		"another type": {func(t *testing.T, o *object) {
			fields(t, o, "properties", "spec", "properties", "versioning")["type"] = "boolean"
		}, "has .spec.versioning as boolean instead of string"},
		"many fields less": {func(t *testing.T, o *object) {
			fields(t, o, "properties", "spec")["properties"] = map[string]any{}
		}, "and "},
		"no status": {func(t *testing.T, o *object) { delete(version(t, o), "subresources") }, "lacks a subresource"},
		"not served": {func(t *testing.T, o *object) {
			version(t, o)["served"] = false
		}, "does not serve v1alpha1"},
		"another scope":  {func(t *testing.T, o *object) { set(t, o, "Cluster", "spec", "scope") }, "is Cluster instead of Namespaced"},
		"not served yet": {func(_ *testing.T, o *object) { delete(o.Object, "status") }, "is not served yet"},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Names{}.crds()
			want := named(t, all, err, "CustomResourceDefinition", "s3buckets.portico.dev")
			have := want.DeepCopy()
			set(t, have, []any{map[string]any{"type": "Established", "status": "True"}}, "status", "conditions")
			c.change(t, have)
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
