package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// ToYAML returns the object as a user would write it: without status and the fields that the API server sets.
func ToYAML(obj *unstructured.Unstructured) ([]byte, error) {
	clean := Clean(obj)
	b, err := yaml.Marshal(clean.Object)
	if err != nil {
		return nil, fmt.Errorf("writing %s %s as YAML: %w", obj.GetKind(), obj.GetName(), err)
	}
	return b, nil
}

// ofMachines reports whether the annotation is set by programs only.
func ofMachines(key string) bool {
	return key == "kubectl.kubernetes.io/last-applied-configuration" || v1alpha1.WrittenByAdmission(key)
}

// Clean returns a copy of obj with only what users write: names, labels, spec, and annotations except those of
// programs.
func Clean(obj *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(obj.GroupVersionKind())
	out.SetName(obj.GetName())
	out.SetNamespace(obj.GetNamespace())
	if l := obj.GetLabels(); len(l) > 0 {
		out.SetLabels(l)
	}
	a := obj.GetAnnotations()
	maps.DeleteFunc(a, func(key, _ string) bool { return ofMachines(key) })
	if len(a) > 0 {
		out.SetAnnotations(a)
	}
	if spec, ok := obj.Object["spec"]; ok {
		out.Object["spec"] = spec
	}
	return out.DeepCopy()
}

// ParseYAML reads one object of the kind, in YAML or JSON. apiVersion and kind can be left out but must not be those of
// another kind. The error is a sentence for the user.
func (k Kind) ParseYAML(b []byte) (*unstructured.Unstructured, error) {
	if docs := bytes.Split(bytes.TrimPrefix(bytes.TrimSpace(b), []byte("---\n")), []byte("\n---\n")); len(docs) > 1 {
		return nil, errors.New("give one object, not several documents")
	}
	v, err := parseValue(b)
	if err != nil {
		return nil, fmt.Errorf("this is not valid YAML: %w", err)
	}
	obj, err := k.fromValue(v)
	if err == nil && !foreignKey(v) {
		return obj, nil
	}
	if said := misspaced(b); said != nil {
		return nil, fmt.Errorf("this is not valid YAML: %w", said)
	}
	return obj, err
}

func (k Kind) fromValue(v any) (*unstructured.Unstructured, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("this is not an object: begin with apiVersion, kind, metadata and spec")
	}
	obj, err := k.check(withoutNull(m))
	if err != nil {
		return nil, err
	}
	if key := misspelt(obj); key != "" {
		return nil, fmt.Errorf("metadata has no field %q", key)
	}
	return obj, nil
}

// withoutNull removes null members of an object, at any depth: they are absent for Kubernetes. List entries stay.
func withoutNull(m map[string]any) map[string]any {
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
	for _, v := range m {
		dropNull(v)
	}
	return m
}

func dropNull(v any) {
	switch v := v.(type) {
	case map[string]any:
		withoutNull(v)
	case []any:
		for _, entry := range v {
			dropNull(entry)
		}
	}
}

// check sets apiVersion and kind, and refuses another kind.
func (k Kind) check(m map[string]any) (*unstructured.Unstructured, error) {
	wanted := map[string]string{"kind": k.Name, "apiVersion": k.Resource.GroupVersion().String()}
	for key, is := range wanted { // each can be left out
		if m[key] == nil || m[key] == "" {
			m[key] = is
		}
	}
	if m["kind"] != wanted["kind"] || m["apiVersion"] != wanted["apiVersion"] {
		return nil, fmt.Errorf("this is %s of %v; %s of %s is wanted", spoken.A(fmt.Sprint(m["kind"])), m["apiVersion"],
			spoken.A(fmt.Sprint(wanted["kind"])), wanted["apiVersion"])
	}
	obj := &unstructured.Unstructured{Object: m}
	return obj, k.checkShape(obj)
}

// checkShape refuses what the accessors of unstructured objects would silently ignore.
func (k Kind) checkShape(obj *unstructured.Unstructured) error {
	for key, v := range obj.Object {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "spec", "status"}, key) {
			return fmt.Errorf("%s has no field %q", k.Name, key)
		}
		if _, isMap := v.(map[string]any); !isMap && (key == "metadata" || key == "spec") {
			return fmt.Errorf("%s must be an object", key)
		}
	}
	return checkMetadata(obj)
}

func checkMetadata(obj *unstructured.Unstructured) error {
	for _, key := range []string{"name", "namespace"} {
		if _, _, err := unstructured.NestedString(obj.Object, "metadata", key); err != nil {
			return fmt.Errorf("metadata.%s must be a string: put it in quotes", key)
		}
	}
	for _, key := range []string{"labels", "annotations"} {
		if _, _, err := unstructured.NestedStringMap(obj.Object, "metadata", key); err != nil {
			return fmt.Errorf("metadata.%s must be a map of strings: put its values in quotes", key)
		}
	}
	return nil
}
