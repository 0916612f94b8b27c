package pages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/web/views"
)

// names answers with the names of the team's Secrets or ConfigMaps, one a line, to those who may list them; with the name of
// one, with its keys. Forms ask when an input for one gets the focus: no page waits for it, and without an answer they are
// typed.
func (p *Pages) names(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s, resource := p.spaceOf(r), chi.URLParam(r, "resource")
	if s.namespace == "" || !slices.Contains(cluster.Nameable(), resource) {
		return errNoPage
	}
	all, err := p.namesOrKeys(r, id, s.namespace, resource)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if _, err := w.Write([]byte(strings.Join(all, "\n"))); err != nil { //nolint:gosec // plain text, and names and keys of Kubernetes have no markup
		p.log.DebugContext(r.Context(), "the client went away", "path", r.URL.Path)
	}
	return nil
}

func (p *Pages) namesOrKeys(r *http.Request, id auth.Identity, namespace, resource string) ([]string, error) {
	of := r.URL.Query()
	if !of.Has("of") {
		return p.cluster.Names(r.Context(), id, namespace, resource)
	}
	if len(validation.IsDNS1123Subdomain(of.Get("of"))) > 0 {
		return nil, nil // half a name, or none
	}
	return p.cluster.Keys(r.Context(), id, namespace, resource, of.Get("of"))
}

// keyed is the input for a key of the Secret or ConfigMap that is named beside it.
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
	var all []views.Names
	for _, resource := range cluster.Nameable() {
		if id := views.NameList(resource); used[id] {
			all = append(all, views.Names{ID: id, Href: views.NamesPath(a.space.team.ID, resource), Keys: keys[id]})
		}
	}
	return all
}
