package availability

import (
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Limits returns the restrictions of a grant in words, such as "zones Z1, Z2".
func Limits(g v1alpha1.HostnameGrantSpec) []string {
	var all []string
	for _, l := range []struct{ of, are string }{
		{"zones", list(g.Zones)}, {"visibility", list(g.Visibilities)}, {"environments", list(g.Environments)},
	} {
		if l.are != "" {
			all = append(all, l.of+" "+l.are)
		}
	}
	return all
}

func list[T ~string](all []T) string {
	words := make([]string, 0, len(all))
	for _, s := range all {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}
