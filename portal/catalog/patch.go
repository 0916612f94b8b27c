package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// ParsePatch reads a merge patch (RFC 7396) of an object: a JSON object. The error is a sentence for the caller.
func ParsePatch(b []byte) (map[string]any, error) { return parseObject(b) }

// CheckPatch returns the errors for parts of a merge patch that users must not change. They can change labels,
// annotations and spec.
func CheckPatch(patch map[string]any) FieldErrors {
	var out FieldErrors
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		switch {
		case key == "metadata":
			out = append(out, checkPatchedMetadata(patch[key])...)
		case key == "status":
			out = append(out, FieldError{Field: key, Message: "is what Portico reports: leave it out"})
		case key != "spec":
			out = append(out, FieldError{Field: key, Message: "cannot be patched: only metadata.labels, " +
				"metadata.annotations and spec can"})
		}
	}
	return out
}

func checkPatchedMetadata(v any) FieldErrors {
	metadata, ok := v.(map[string]any)
	if !ok {
		return FieldErrors{{Field: "metadata", Message: "must be an object"}}
	}
	var out FieldErrors
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		field := "metadata." + key
		switch key {
		case "labels", "annotations":
			out = append(out, checkPatchedTexts(field, metadata[key])...)
		case "name", "namespace":
			out = append(out, FieldError{Field: field, Message: "is in the URL and cannot be changed: leave it out"})
		default:
			out = append(out, FieldError{Field: field, Message: whySurplus(key)})
		}
	}
	return out
}

// checkPatchedTexts checks a map of strings, where null removes one; null instead of the map removes all.
func checkPatchedTexts(field string, v any) FieldErrors {
	texts, ok := v.(map[string]any)
	if !ok && v != nil {
		return FieldErrors{{Field: field, Message: "must be an object, or null to remove all"}}
	}
	var out FieldErrors
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		at := fmt.Sprintf("%s[%s]", field, key)
		if _, isText := texts[key].(string); !isText && texts[key] != nil {
			out = append(out, FieldError{Field: at, Message: "must be a string, or null to remove it"})
		} else if v1alpha1.WrittenByAdmission(key) {
			out = append(out, FieldError{Field: at, Message: "is managed by Portico: leave it out"})
		}
	}
	return out
}
