package s3

import (
	"maps"
	"slices"
	"strings"

	"github.com/portico-platform/portico/controllers/external"
)

// describeChanges names what was added, changed and removed.
func describeChanges(have, want map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch had, ok := have[key]; {
		case !ok:
			all = append(all, "added "+key)
		case had != want[key]:
			all = append(all, "changed "+key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[key]; !ok {
			all = append(all, "removed "+key)
		}
	}
	return strings.Join(all, ", ")
}

// asJSON returns a text that differs exactly if the value does; marshalling these types does not fail.
func asJSON(v any) string {
	if text := external.JSON(v); text != "null" && text != "{}" && text != "[]" {
		return text
	}
	return "none"
}
