package team

import (
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// suspendAsk shows the page that asks for confirmation before a Team is suspended or resumed.
func (p *Pages) suspendAsk(w http.ResponseWriter, r *http.Request) error {
	return p.showSuspend(w, r, "", http.StatusOK)
}

func (p *Pages) showSuspend(w http.ResponseWriter, r *http.Request, problem string, status int) error {
	l, err := p.readRequest(r)
	if err != nil {
		return err
	}
	if err := p.Cluster.Rights.Require(r.Context(), l.id, "update", l.ref); err != nil {
		return err
	}
	obj, err := p.Cluster.Objects.Current(r.Context(), l.id, l.ref)
	if err != nil {
		return err
	}
	view := views.SuspendView{Owner: page.OwnerOf(obj), ETag: write.ETag(obj), Problem: problem}
	title := "Suspend "
	if view.Owner.Suspended {
		title = "Resume "
	}
	if view.Frame, err = p.Frame(r, l.id, page.Space{}, title+view.Owner.Title, l.ref.Kind.Title); err != nil {
		return err
	}
	view.Frame.Section, view.Frame.Slim = views.AdminSection, true
	return p.Show(w, r, status, views.SuspendPage(view))
}

// suspend suspends or resumes the Team that the page showed.
func (p *Pages) suspend(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readRequest(r)
	if err != nil {
		return err
	}
	if err := page.ReadForm(w, r); err != nil {
		return err
	}
	if err := p.Cluster.Rights.Require(r.Context(), l.id, "update", l.ref); err != nil {
		return err
	}
	on := r.PostForm.Get("do") == "suspend"
	result, err := p.Cluster.Write.Patch(r.Context(), l.id, l.ref,
		map[string]any{"spec": map[string]any{"suspended": on}},
		r.PostForm.Get("etag"), false)
	var changed *failure.ChangedError
	switch {
	case err == nil:
		return page.SeeOther(w, r, views.AppliedPath(views.OwnerPath(l.ref.Name), result.Object.GetGeneration()))
	case errors.As(err, &changed):
		return p.showSuspend(w, r, "Somebody else changed the team in the meantime: nothing was changed. Look at "+
			"it again.", http.StatusConflict)
	case page.Unseen(err):
		return err
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
		return p.showSuspend(w, r, humanize.Sentence(page.AdmissionWords(err)), http.StatusUnprocessableEntity)
	}
	return err
}
