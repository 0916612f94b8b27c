package request

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/commands"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/pages/page"
)

// formRequest is a request about a described object: a new one, or one being edited.
type formRequest struct {
	id    auth.Identity
	space page.Space
	kind  catalog.Kind
	edit  *form.Edit // nil: a new object
	// people are the names of users and groups.
	people form.People
	kinds  catalog.Catalog // there are
}

func (f formRequest) facts() form.Facts {
	return form.Facts{Team: f.space.Team, Namespace: f.space.Namespace, Edit: f.edit, People: f.people, Kinds: f.kinds}
}

// ref returns the object of the kind that has a name.
func (f formRequest) ref(name string) catalog.Ref {
	return catalog.Ref{Kind: f.kind, Namespace: f.space.Namespace, Name: name}
}

// formRequest returns the caller and the kind of the request. It needs the right to verb.
func (p *Pages) formRequest(r *http.Request, kinds func(page.Space) catalog.Catalog, verb string) (formRequest, error) {
	id, err := page.Caller(r)
	if err != nil {
		return formRequest{}, err
	}
	f := formRequest{id: id, space: p.SpaceOf(r), people: p.Names, kinds: p.Cluster.Kinds.Now()}
	if f.kind, err = page.KindOf(r, kinds(f.space)); err != nil {
		return formRequest{}, err
	}
	ref, err := page.Ref(r, f.kind, f.space.Namespace)
	if err != nil {
		return formRequest{}, err
	}
	return f, p.Cluster.Rights.Require(r.Context(), id, verb, ref)
}

func requestable(s page.Space) catalog.Catalog { return s.Kinds }

// carried returns the version of the path's object that a form carries: its ETag and its YAML, from the inputs of these
// names.
func carried(r *http.Request, kind catalog.Kind, etag, text string) (*form.Edit, error) {
	e := &form.Edit{
		Name: chi.URLParam(r, "name"), ETag: r.PostForm.Get(etag),
		Made: strings.Fields(r.PostForm.Get("made")),
	}
	var err error
	if e.Object, err = form.Parse(kind, r.PostForm.Get(text)); err != nil || e.ETag == "" {
		return nil, errors.Join(page.ErrForm, err)
	}
	return e, nil
}

func inEditor(f formRequest) string {
	return commands.InEditor(commands.Target{Kind: f.kind, Namespace: f.space.Namespace, Name: f.edit.Name})
}
