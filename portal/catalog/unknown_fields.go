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

// Surplus returns errors for the fields of obj that Clean drops silently: status, and the fields of metadata that users
// do not write. Empty fields pass, because programs send them.
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

// Untaken returns the paths of the fields that Clean drops from obj, sorted, without empty ones.
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

// Unknown returns errors for fields of metadata that do not exist, and for generateName. Others that Clean drops pass,
// because clients replace an object with what they read.
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

// misspelt returns a field of metadata that Kubernetes does not have, "" if there is none. Other fields that Clean
// drops pass, because users paste the output of kubectl get.
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
	names := []string{"selfLink"} // old servers still send it
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
