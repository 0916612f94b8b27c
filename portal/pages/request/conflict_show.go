package request

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// showConflict shows another user's changes since the draft began, beside the draft's. No change is lost: those that do
// not overlap are merged, and for the others the user chooses.
func (p *Pages) showConflict(w http.ResponseWriter, r *http.Request, f formRequest, d form.Draft,
	now *unstructured.Unstructured,
) error {
	if err := form.Sized(now); err != nil {
		d.Errors = catalog.FieldErrors{{
			Message: "somebody else changed it while you edited, and it is too large now to be merged here: " +
				err.Error() +
				"; nothing of yours is lost: copy your YAML, and take it to kubectl",
		}}
		return p.showForm(w, r, f, d, http.StatusConflict)
	}
	view := views.Conflict{ETag: write.ETag(now)}
	if _, err := form.NewConflict(f.kind, *f.edit, now, d.Object).View(&view, nil); err != nil {
		return err
	}
	return p.showVersions(w, r, f, view, http.StatusConflict)
}

// showVersions shows three versions of an object.
func (p *Pages) showVersions(w http.ResponseWriter, r *http.Request, f formRequest, view views.Conflict,
	status int,
) error {
	shown, err := p.formPage(r, f)
	if err != nil {
		return err
	}
	shown.Frame.Title = page.Title(f.space, "Somebody else changed "+f.edit.Name, f.kind.Title)
	shown.ETag, shown.Began, shown.Made, shown.YAML = f.edit.ETag, view.Form.Began, strings.Join(f.edit.Made, " "),
		view.Form.YAML
	view.Form, view.Name, view.Anew = shown, f.edit.Name, !write.SameObject(view.ETag, f.edit.ETag)
	return p.Show(w, r, status, views.ConflictPage(view))
}

// showGone reports that the object was deleted while it was edited, and offers to request it again.
func (p *Pages) showGone(w http.ResponseWriter, r *http.Request, f formRequest, d form.Draft) error {
	text, err := catalog.ToYAML(form.WithoutOrders(d.Object))
	if err != nil {
		return err
	}
	view := views.Vanished{Name: f.edit.Name}
	if view.Form, err = p.formPage(r, f); err != nil {
		return err
	}
	view.Form.Frame.Title, view.Form.YAML = page.Title(f.space, view.Name+" was deleted", f.kind.Title), string(text)
	if _, ok := f.space.Kinds.ByPlural(f.kind.Plural); ok {
		may, err := p.Cluster.Rights.Can(r.Context(), f.id, "create", f.kind, f.space.Namespace)
		if err != nil {
			return err
		}
		if may {
			view.Anew = views.RequestPath(f.space.Team.ID, f.kind.Plural)
		}
	}
	return p.Show(w, r, http.StatusNotFound, views.VanishedPage(view))
}
