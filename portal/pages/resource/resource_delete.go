package resource

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/deletion"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// deleteAsk shows the confirmation of a deletion.
func (p *Pages) deleteAsk(w http.ResponseWriter, r *http.Request) error {
	l, obj, err := p.deleting(r)
	if err != nil {
		return err
	}
	view, err := p.deleteView(r.Context(), l, obj)
	if err != nil {
		return err
	}
	return p.Show(w, r, http.StatusOK, views.DeletePage(view))
}

// deleting returns the object, for callers who can delete it.
func (p *Pages) deleting(r *http.Request) (objectRequest, *unstructured.Unstructured, error) {
	l, err := p.readRequest(r)
	if err != nil {
		return l, nil, err
	}
	if err := p.Cluster.Rights.Require(r.Context(), l.id, "delete", l.ref); err != nil {
		return l, nil, err
	}
	obj, err := p.Cluster.Objects.Get(r.Context(), l.id, l.ref)
	if err != nil {
		return l, nil, err
	}
	l.frame, err = p.Frame(r, l.id, l.space, "Delete "+l.ref.Name, l.ref.Kind.Title)
	l.frame.Section, l.frame.Slim = views.Resources, true
	return l, obj, err
}

func (p *Pages) deleteView(ctx context.Context, l objectRequest, obj *unstructured.Unstructured) (views.Delete, error) {
	users, err := p.users(ctx, l)
	return views.Delete{
		Frame: l.frame, Resource: page.ResourceOf(l.space, l.ref.Kind, obj, p.Now()), UID: string(obj.GetUID()),
		Users: users, InUse: status.UsersOf(obj) != "", Effects: deletion.Effects(obj, l.ref.Kind),
		Leaves: l.ref.Kind.Has("deletionPolicy"),
	}, err
}

// deletePost deletes the object that the page showed, if its name was typed.
func (p *Pages) deletePost(w http.ResponseWriter, r *http.Request) error {
	l, obj, err := p.deleting(r)
	if err != nil {
		return err
	}
	if err := page.ReadForm(w, r); err != nil {
		return err
	}
	view, err := p.deleteView(r.Context(), l, obj)
	if err != nil {
		return err
	}
	view.Typed = r.PostForm.Get("name")
	uid := r.PostForm.Get("uid")
	switch {
	case uid != view.UID:
		view.Typed = ""
		view.Problem = "This is another resource with the same name: it was created again in the meantime. Look at " +
			"it again before you delete it."
		return p.Show(w, r, http.StatusConflict, views.DeletePage(view))
	case view.Typed != l.ref.Name:
		view.Error = "Type the name exactly as it is shown here: " + l.ref.Name + "."
		return p.Show(w, r, http.StatusUnprocessableEntity, views.DeletePage(view))
	}
	_, err = p.Cluster.Write.Delete(r.Context(), l.id, l.ref, write.Seen{UID: types.UID(uid), Confirmed: view.Typed},
		false)
	switch {
	case err == nil || apierrors.IsNotFound(err):
		return page.SeeOther(w, r, views.TeamPath(l.space.Team.ID))
	case apierrors.IsConflict(err):
		view.Problem = "It was replaced by another resource with the same name in the meantime."
		return p.Show(w, r, http.StatusConflict, views.DeletePage(view))
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err): // a policy's message
		view.Problem = humanize.Sentence(page.AdmissionWords(err))
		return p.Show(w, r, http.StatusUnprocessableEntity, views.DeletePage(view))
	}
	return err
}
