package catalog

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// written are the parts of metadata that users write and Clean keeps.
var written = []string{"name", "namespace", "labels", "annotations"}

// Surplus complains about the fields of obj that Clean leaves out silently: status, and what metadata has besides what
// users write. Empty fields pass, because programs send them along.
func Surplus(obj *unstructured.Unstructured) FieldErrors {
	var out FieldErrors
	metadata, _ := obj.Object["metadata"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if !slices.Contains(written, key) && !blank(metadata[key]) {
			out = append(out, FieldError{Field: "metadata." + key, Message: whySurplus(key)})
		}
	}
	if !blank(obj.Object["status"]) {
		out = append(out, FieldError{Field: "status", Message: "is what Portico reports: leave it out"})
	}
	return out
}

// Untaken returns the paths of what Clean leaves out of obj, in order, without empty parts.
func Untaken(obj *unstructured.Unstructured) []string {
	var out []string
	for _, e := range Surplus(obj) {
		out = append(out, e.Field)
	}
	for key, text := range obj.GetAnnotations() {
		if ofMachines(key) && text != "" {
			out = append(out, "metadata.annotations["+key+"]")
		}
	}
	slices.Sort(out)
	return out
}

// Unknown complains about the fields of metadata that users cannot mean: those that do not exist, and generateName.
// Others that Clean leaves out pass, because whoever replaces an object sends what they read of it.
func Unknown(obj *unstructured.Unstructured) FieldErrors {
	var out FieldErrors
	metadata, _ := obj.Object["metadata"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if !blank(metadata[key]) && (key == "generateName" || !slices.Contains(metadataFields(), key)) {
			out = append(out, FieldError{Field: "metadata." + key, Message: whySurplus(key)})
		}
	}
	return out
}

func whySurplus(key string) string {
	switch {
	case key == "generateName":
		return "is not taken: give metadata.name, so that sending it twice makes one object"
	case slices.Contains(metadataFields(), key):
		return "is managed by Kubernetes and Portico: leave it out"
	}
	return noField
}

// misspelt names a field of metadata that Kubernetes does not know, "" if there is none. Other fields that Clean leaves
// out pass: YAML is pasted from kubectl get.
func misspelt(obj *unstructured.Unstructured) string {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if !slices.Contains(metadataFields(), key) {
			return key
		}
	}
	return ""
}

// metadataFields returns the names of the fields that metadata can have.
func metadataFields() []string {
	names := []string{"selfLink"} // still sent by old servers
	for f := range reflect.TypeFor[metav1.ObjectMeta]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == ""
}
