package form

import (
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// Secrets is the list of Secret names, as in the URL.
const Secrets = "secrets"

// keyed returns the input for a key of the Secret in the adjacent input.
func (s subject) keyed(v views.Field) views.Field {
	beside := strings.TrimSuffix(v.Name, "key") + "name"
	if list := s.nameList(beside); list != "" && v.Widget == views.Text {
		v.List, v.KeyOf = views.KeyList(list), beside
	}
	return v
}

// nameList returns the list of names for an input at this path, "" for none. Cluster-scoped objects refer to Secrets of
// the platform's own namespace, which pages do not list.
func (s subject) nameList(path string) string {
	steps := strings.Split(path, ".")
	if !s.kind.Namespaced || len(steps) < 2 || steps[len(steps)-1] != "name" {
		return ""
	}
	if strings.Contains(strings.ToLower(steps[len(steps)-2]), "secret") {
		return views.NameList(Secrets)
	}
	return ""
}

// nameLists returns the lists of names that the inputs of the kind's form need.
func (s subject) nameLists() []views.Names {
	used, keys := map[string]bool{}, map[string]bool{}
	var look func(fields []catalog.Field)
	look = func(fields []catalog.Field) {
		for _, f := range fields {
			used[s.nameList(f.Path)] = true
			if f.IsKeyRef() {
				keys[s.nameList(f.Path+".name")] = true
			}
			look(f.Fields)
			if f.Items != nil {
				look(f.Items.Fields)
			}
		}
	}
	look(s.kind.Fields())
	list := views.NameList(Secrets)
	if !used[list] {
		return nil
	}
	return []views.Names{{ID: list, Href: views.NamesPath(s.Team.ID, Secrets), Keys: keys[list]}}
}
