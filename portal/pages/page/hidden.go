package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
)

// maxHiddenTeams is the number of teams that are named for a hidden kind.
const maxHiddenTeams = 3

// OfKind returns the kind with that plural; "" returns all.
func OfKind(kinds catalog.Catalog, plural string) catalog.Catalog {
	return slices.DeleteFunc(slices.Clone(kinds), func(k catalog.Kind) bool {
		return plural != "" && k.Plural != plural
	})
}

// HiddenKinds returns the names of kinds that the caller cannot list.
func HiddenKinds(kinds catalog.Catalog) []string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.Noun())
	}
	return all
}

// HiddenOf returns the kinds that the caller cannot list in some namespaces, as text: "message queue of search".
func HiddenOf(unlisted map[string]catalog.Catalog) []string {
	teams := map[string][]string{}
	for _, team := range slices.Sorted(maps.Keys(unlisted)) {
		for _, kind := range HiddenKinds(unlisted[team]) {
			teams[kind] = append(teams[kind], team)
		}
	}
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(teams)) {
		of := strings.Join(teams[kind], ", ")
		if n := len(teams[kind]); n > maxHiddenTeams {
			of = fmt.Sprintf("%d teams", n)
		}
		all = append(all, kind+" of "+of)
	}
	return all
}
