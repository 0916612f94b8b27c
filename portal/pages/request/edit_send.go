package request

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// editForm shows the form with the object's values, or with back the review of a rollback to an earlier version.
func (p *Pages) editForm(w http.ResponseWriter, r *http.Request) error {
	f, err := p.formRequest(r, page.Editable, "update")
	if err != nil {
		return err
	}
	name := chi.URLParam(r, "name")
	obj, err := p.Cluster.Objects.Get(r.Context(), f.id, f.ref(name))
	if err != nil {
		return err
	}
	f.edit = &form.Edit{Name: name, ETag: write.ETag(obj), Object: obj, Made: f.kind.Made(obj)}
	// else the form says why not
	if to := r.URL.Query().Get(views.BackTo); to != "" && f.kind.Fixed == "" && form.Sized(obj) == nil {
		return p.back(w, r, f, to)
	}
	d, err := form.FromObject(f.kind, obj, f.facts())
	if err != nil {
		return err
	}
	return p.showForm(w, r, f, d, http.StatusOK)
}

// editPost handles the pressed button.
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
