package pages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/web/views"
)

// names answers with the names of the team's Secrets or ConfigMaps, one a line, to those who may list them. Forms ask when
// an input for one gets the focus: no page waits for it, and without an answer names are typed.
func (p *Pages) names(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s, resource := p.spaceOf(r), chi.URLParam(r, "resource")
	if s.namespace == "" || !slices.Contains(cluster.Nameable(), resource) {
		return errNoPage
	}
	all, err := p.cluster.Names(r.Context(), id, s.namespace, resource)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if _, err := w.Write([]byte(strings.Join(all, "\n"))); err != nil { //nolint:gosec // plain text, and Kubernetes names have no markup
		p.log.DebugContext(r.Context(), "the client went away", "path", r.URL.Path)
	}
	return nil
}

// nameList is the list of names that an input of this path may take one of, "" for none. Objects of the platform name
// Secrets of its own namespace, which are nobody's to list here.
func (a asking) nameList(path string) string {
	steps := strings.Split(path, ".")
	if !a.kind.Namespaced || len(steps) < 2 || steps[len(steps)-1] != "name" {
		return ""
	}
	switch of := strings.ToLower(steps[len(steps)-2]); {
	case strings.Contains(of, "configmap"):
		return views.NameList("configmaps")
	case strings.Contains(of, "secret"):
		return views.NameList("secrets")
	}
	return ""
}

// nameLists are those that some input of the kind's form takes a name of.
func (a asking) nameLists() []views.Names {
	used := map[string]bool{}
	var look func(fields []catalog.Field)
	look = func(fields []catalog.Field) {
		for _, f := range fields {
			used[a.nameList(f.Path)] = true
			look(f.Fields)
			if f.Items != nil {
				look(f.Items.Fields)
			}
		}
	}
	look(a.kind.Fields)
	var all []views.Names
	for _, resource := range cluster.Nameable() {
		if id := views.NameList(resource); used[id] {
			all = append(all, views.Names{ID: id, Href: views.NamesPath(a.space.team.ID, resource)})
		}
	}
	return all
}
