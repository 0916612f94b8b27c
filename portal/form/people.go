package form

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// People are the names of users and groups.
type People struct {
	// Prefix precedes their names in Kubernetes; forms accept and show names without it.
	Prefix string
	// Groups are the display names of groups, by their names in Kubernetes.
	Groups map[string]string
}

// Named returns the name in Kubernetes of a user or a group of the identity provider. A name that has the prefix stays.
func (p People) Named(name string) string {
	if name == "" || strings.HasPrefix(name, p.Prefix) {
		return name
	}
	return p.Prefix + name
}

// Short returns a name in Kubernetes as forms show it.
func (p People) Short(name string) string { return strings.TrimPrefix(name, p.Prefix) }

// people returns the names of the inputs that contain users and groups.
func (s subject) people(values url.Values) []string {
	var all []string
	for name := range values {
		if s.kind.IsPerson(name) {
			all = append(all, name)
		}
	}
	return all
}

// withPrefix returns the values with the prefix added to users and groups. Names without a prefix in base stay: they do
// not come from the identity provider.
func (s subject) withPrefix(values url.Values, base *unstructured.Unstructured) url.Values {
	inputs := s.people(values)
	if len(inputs) == 0 {
		return values
	}
	var others []string
	if base != nil {
		had := s.kind.Encode(base)
		for _, name := range s.people(had) {
			others = append(others, had.Get(name))
		}
	}
	out := maps.Clone(values)
	for _, name := range inputs {
		if typed := strings.TrimSpace(last(values[name])); !slices.Contains(others, typed) {
			out.Set(name, s.People.Named(typed))
		}
	}
	return out
}

// withoutPrefix removes the prefix from users and groups, for display.
func (s subject) withoutPrefix(values url.Values) {
	for _, name := range s.people(values) {
		values.Set(name, s.People.Short(values.Get(name)))
	}
}

// person returns the input for the name of a user or a group.
func (s subject) person(f catalog.Field, v views.Field) views.Field {
	v.Hint, v.More = "The "+f.Name+"'s name at the identity provider: the portal puts "+s.People.Prefix+
		" in front of it.", ""
	if f.Name != "group" {
		return v
	}
	for id, called := range s.People.Groups {
		v.Suggestions = append(v.Suggestions, views.Choice{Value: s.People.Short(id), Label: called})
	}
	slices.SortFunc(v.Suggestions, func(a, b views.Choice) int { return strings.Compare(a.Label, b.Label) })
	return v
}

// last returns the last of several values with one name, which applies.
func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}
