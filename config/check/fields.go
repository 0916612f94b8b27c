package check

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// everyElement in a path matches every element of a list, and every value of a map.
const everyElement = "[]"

// fieldsBeyond returns the paths, below at, of fields that are in have and not in want. It does not look into such a
// field.
func fieldsBeyond(at []string, want, have *apiextensionsv1.JSONSchemaProps) (all [][]string) {
	if preserves(want) {
		return nil // it keeps what it does not know
	}
	for name, field := range have.Properties {
		path := append(slices.Clone(at), name)
		ours, known := want.Properties[name]
		if !known {
			all = append(all, path)
			continue
		}
		all = append(all, fieldsBeyond(path, &ours, &field)...)
	}
	if ours, theirs := elementsOf(want), elementsOf(have); ours != nil && theirs != nil {
		all = append(all, fieldsBeyond(append(slices.Clone(at), everyElement), ours, theirs)...)
	}
	slices.SortFunc(all, slices.Compare[[]string])
	return all
}

func preserves(schema *apiextensionsv1.JSONSchemaProps) bool {
	return schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
}

// elementsOf returns the schema of a list's elements or a map's values, and nil for anything else.
func elementsOf(schema *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	switch {
	case schema.Items != nil:
		return schema.Items.Schema
	case schema.AdditionalProperties != nil:
		return schema.AdditionalProperties.Schema
	}
	return nil
}

// using counts the objects in which something is at the path below spec.
func using(objects []object, path []string) (n int) {
	for i := range objects {
		if has(objects[i].Object["spec"], path) {
			n++
		}
	}
	return n
}

func has(value any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	if list, ok := value.([]any); ok && path[0] == everyElement {
		return slices.ContainsFunc(list, func(one any) bool { return has(one, path[1:]) })
	}
	fields, _ := value.(map[string]any)
	if path[0] == everyElement {
		for _, one := range fields {
			if has(one, path[1:]) {
				return true
			}
		}
		return false
	}
	one, found := fields[path[0]]
	return found && has(one, path[1:])
}

// pathText returns a path as people write it: lifecycleRules[].prefix.
func pathText(path []string) string {
	return strings.ReplaceAll(strings.Join(path, "."), "."+everyElement, everyElement)
}
