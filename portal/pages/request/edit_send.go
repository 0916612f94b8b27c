package request

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/commands"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/pages/page"
)

// editForm shows the form, filled in from the object.
func (p *Pages) editForm(w http.ResponseWriter, r *http.Request) error {
	f, err := p.formRequest(r, page.Editable, "update")
	if err != nil {
		return err
	}
	name := chi.URLParam(r, "name")
	obj, err := p.cluster.Get(r.Context(), f.id, f.ref(name))
	if err != nil {
		return err
	}
	f.edit = &form.Edit{Name: name, ETag: cluster.ETag(obj), Object: obj}
	d, err := form.FromObject(f.kind, obj, f.facts())
	if err != nil {
		return err
	}
	return p.showForm(w, r, f, d, http.StatusOK)
}

// editPost does what the pressed button says.
func (p *Pages) editPost(w http.ResponseWriter, r *http.Request) error {
	f, err := p.formRequest(r, page.Editable, "update")
	if err != nil {
		return err
	}
	if err := page.ReadForm(w, r); err != nil {
		return err
	}
	if f.edit, err = carried(r, f.kind, "etag", "began"); err != nil {
		return err
	}
	if last(r.PostForm["do"]) == "merge" {
		return p.merge(w, r, f)
	}
	return p.answer(w, r, f)
}

// carried reads a version of the object of the path that a form carries, its ETag and its YAML, from the inputs of these names.
func carried(r *http.Request, kind catalog.Kind, etag, text string) (*form.Edit, error) {
	e := &form.Edit{Name: chi.URLParam(r, "name"), ETag: r.PostForm.Get(etag)}
	var err error
	if e.Object, err = form.Parse(kind, r.PostForm.Get(text)); err != nil || e.ETag == "" {
		return nil, errors.Join(page.ErrForm, err)
	}
	return e, nil
}

func inEditor(f formRequest) string {
	return commands.InEditor(commands.Target{Kind: f.kind, Namespace: f.space.Namespace, Name: f.edit.Name})
}
