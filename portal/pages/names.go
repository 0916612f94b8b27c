package pages

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// secrets are what names are offered of, as in the address.
const secrets = "secrets"

// names answers with the names of the Secrets that the team's resources publish, one a line, or with the name of one with its
// keys. Forms ask when an input for one gets the focus: no page waits for it, and others are typed.
func (p *Pages) names(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s := p.spaceOf(r)
	if s.namespace == "" {
		return errNoPage
	}
	published, err := p.cluster.Bindings(r.Context(), id, s.namespace)
	if err != nil {
		return err
	}
	all := slices.Sorted(maps.Keys(published))
	if of := r.URL.Query(); of.Has("of") {
		all = published[of.Get("of")]
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if _, err := w.Write([]byte(strings.Join(all, "\n"))); err != nil { //nolint:gosec // plain text, and names and keys of Kubernetes have no markup
		p.log.DebugContext(r.Context(), "the client went away", "path", r.URL.Path)
	}
	return nil
}

// keyed is the input for a key of the Secret that is named beside it.
func (a asking) keyed(v views.Field) views.Field {
	beside := strings.TrimSuffix(v.Name, "key") + "name"
	if list := a.nameList(beside); list != "" && v.Widget == views.Text {
		v.List, v.KeyOf = views.KeyList(list), beside
	}
	return v
}

// nameList is the list of names that an input of this path may take one of, "" for none. Objects of the platform name
// Secrets of its own namespace, which are nobody's to list here.
func (a asking) nameList(path string) string {
	steps := strings.Split(path, ".")
	if !a.kind.Namespaced || len(steps) < 2 || steps[len(steps)-1] != "name" {
		return ""
	}
	if strings.Contains(strings.ToLower(steps[len(steps)-2]), "secret") {
		return views.NameList(secrets)
	}
	return ""
}

// nameLists are those that some input of the kind's form takes a name of.
func (a asking) nameLists() []views.Names {
	used, keys := map[string]bool{}, map[string]bool{}
	var look func(fields []catalog.Field)
	look = func(fields []catalog.Field) {
		for _, f := range fields {
			used[a.nameList(f.Path)] = true
			if f.IsKeyRef() {
				keys[a.nameList(f.Path+".name")] = true
			}
			look(f.Fields)
			if f.Items != nil {
				look(f.Items.Fields)
			}
		}
	}
	look(a.kind.Fields)
	list := views.NameList(secrets)
	if !used[list] {
		return nil
	}
	return []views.Names{{ID: list, Href: views.NamesPath(a.space.team.ID, secrets), Keys: keys[list]}}
}
