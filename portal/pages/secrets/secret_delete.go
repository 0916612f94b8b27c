package secrets

import (
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// deleteAsk asks for confirmation before a Secret, or the key in the URL, is deleted.
func (p *Pages) deleteAsk(w http.ResponseWriter, r *http.Request) error {
	view := views.SecretDelete{Key: named(r.URL.Query().Get("key"))}
	return p.showDelete(w, r, view, ok, "")
}

// deletePost deletes the Secret or the key.
func (p *Pages) deletePost(w http.ResponseWriter, r *http.Request) error {
	if err := page.ReadForm(w, r); err != nil {
		return err
	}
	view := views.SecretDelete{Key: r.PostForm.Get("key"), Typed: r.PostForm.Get("typed")}
	l, name, err := p.readSecret(r)
	if err != nil {
		return err
	}
	if auth.ConfirmedUntil(r.Context()).IsZero() {
		return p.showDelete(w, r, view, trouble{status: http.StatusUnauthorized}, notDeleted)
	}
	if view.Typed != "" && view.Typed != name {
		view.Error = "This is not the name."
		return p.showDelete(w, r, view, trouble{status: http.StatusUnprocessableEntity}, "")
	}
	if view.Key != "" {
		_, err = p.Cluster.People.SetSecret(r.Context(), l.id, l.space.Namespace, name, operatorapi.SecretChange{
			Remove: []string{view.Key},
		})
	} else {
		_, err = p.Cluster.People.DeleteSecret(r.Context(), l.id, l.space.Namespace, name, view.Typed)
	}
	switch t, err := troubleOf(err); {
	case err != nil:
		return err
	case t.stale:
		return p.showDelete(w, r, view, t, notDeleted)
	case t.status == http.StatusNotFound: // it was deleted already
	case t.status != http.StatusOK:
		return p.showDelete(w, r, view, t, "")
	}
	return page.SeeOther(w, r, views.SecretDonePath(l.space.Team.ID, "deleted", name, view.Key))
}

// readSecret returns the request and the name of the Secret. It returns an error unless the caller can update the
// Secret, which is also the right to delete it.
func (p *Pages) readSecret(r *http.Request) (listRequest, string, error) {
	l, err := p.readList(r)
	name := chi.URLParam(r, "secret")
	if err == nil && len(validation.IsDNS1123Subdomain(name)) > 0 {
		err = page.ErrNoPage
	}
	if err != nil {
		return l, name, err
	}
	return l, name, p.Cluster.People.RequireValues(r.Context(), l.id, "update", l.space.Namespace, name)
}

// showDelete shows the page that asks for confirmation, with the outcome of an earlier attempt. stale says what was not
// done because a recent sign-in was missing.
func (p *Pages) showDelete(w http.ResponseWriter, r *http.Request, view views.SecretDelete, sent trouble,
	stale string,
) error {
	l, name, err := p.readSecret(r)
	if err != nil {
		return err
	}
	view.Name, view.Problem = name, sent.words
	if view.Frame, err = p.Frame(r, l.id, l.space, "Delete "+name, "Secrets"); err != nil {
		return err
	}
	view.Frame.Section, view.Frame.Slim = views.TeamSection, true
	view.Confirm = p.confirming(r.Context(), views.DeleteSecretPath(l.space.Team.ID, name, view.Key), stale)
	if view.Confirm.Href != "" {
		return p.Show(w, r, sent.status, views.SecretDeletePage(view))
	}
	all, err := p.Cluster.People.Secrets(r.Context(), l.id, l.space.Namespace)
	t, err := troubleOf(err)
	switch {
	case err != nil:
		return err
	case t.stale:
		view.Confirm = p.confirming(r.Context(), views.DeleteSecretPath(l.space.Team.ID, name, view.Key), notDeleted)
	case t.status == http.StatusForbidden: // only this one can be updated: the operator checks its uses
		t = ok
	case t.status != http.StatusOK:
		view.Problem = t.words
	default:
		i := slices.IndexFunc(all.Items, func(s operatorapi.Secret) bool { return s.Name == name })
		view.Gone = i < 0 || view.Key != "" && !slices.ContainsFunc(
			all.Items[i].Keys, func(k operatorapi.SecretKey) bool { return k.Name == view.Key })
		if view.Gone {
			t.status = http.StatusNotFound
		} else {
			view.Uses = p.usesOf(l.space, all.Items[i].UsedBy)
		}
	}
	return p.Show(w, r, max(sent.status, t.status), views.SecretDeletePage(view))
}
