package form

import (
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// Secrets are what names are offered of, as in the address.
const Secrets = "secrets"

// keyed returns the input for a key of the Secret that is named beside it.
func (s subject) keyed(v views.Field) views.Field {
	beside := strings.TrimSuffix(v.Name, "key") + "name"
	if list := s.nameList(beside); list != "" && v.Widget == views.Text {
		v.List, v.KeyOf = views.KeyList(list), beside
	}
	return v
}

// nameList returns the list of names that an input of this path may take one of, "" for none. Objects of the platform
// name Secrets of its own namespace, which are nobody's to list here.
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

// nameLists returns those that some input of the kind's form takes a name of.
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
	look(s.kind.Fields)
	list := views.NameList(Secrets)
	if !used[list] {
		return nil
	}
	return []views.Names{{ID: list, Href: views.NamesPath(s.Team.ID, Secrets), Keys: keys[list]}}
}
