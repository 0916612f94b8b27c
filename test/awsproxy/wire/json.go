package wire

import (
	"maps"
)

// JSONTexts reads an object of strings.
func JSONTexts(v any) map[string]string {
	all := map[string]string{}
	object, _ := v.(map[string]any)
	for key, value := range maps.All(object) {
		all[key], _ = value.(string)
	}
	return all
}

// JSONList reads a list of strings.
func JSONList(v any) []string {
	var all []string
	list, _ := v.([]any)
	for _, item := range list {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// JSONTags reads a list of tags, each with Key and Value.
func JSONTags(v any) map[string]string {
	all := map[string]string{}
	list, _ := v.([]any)
	for _, item := range list {
		t := JSONTexts(item)
		all[t["Key"]] = t["Value"]
	}
	return all
}
