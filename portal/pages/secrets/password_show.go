package secrets

import (
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// bound is a request about an object with connection details.
type bound struct {
	id    auth.Identity
	space page.Space
	ref   cluster.Ref
	obj   *unstructured.Unstructured
	view  views.PasswordView
}

// readBound reads which object it is about. Who may not get its binding Secret gets a *cluster.ForbiddenError.
func (p *Pages) readBound(r *http.Request) (b bound, err error) {
	if b.id, b.space, err = p.CallerInTeam(r); err != nil {
		return b, err
	}
	if b.ref, err = b.space.RefOf(r); err != nil {
		return b, err
	}
	if !b.ref.Kind.Tells("binding") {
		return b, page.ErrNoPage
	}
	if b.obj, err = p.cluster.Get(r.Context(), b.id, b.ref); err != nil {
		return b, err
	}
	b.view = views.PasswordView{Resource: page.ResourceOf(b.space, b.ref.Kind, b.obj, p.Now()), Secret: catalog.TextAt(b.obj, "status", "binding", "name")}
	if b.view.Secret != "" {
		err = p.cluster.RequireReadSecret(r.Context(), b.id, b.ref.Namespace, b.view.Secret)
	}
	return b, err
}

// passwordAsk asks before a password is shown.
func (p *Pages) passwordAsk(w http.ResponseWriter, r *http.Request) error {
	b, err := p.readBound(r)
	if err != nil {
		return err
	}
	if b.view.Secret == "" {
		return p.showPassword(w, r, b, trouble{status: http.StatusConflict, words: b.ref.Name + " has no connection details yet: wait until it is Ready."}, "")
	}
	t, err := p.served(r.Context())
	if err != nil {
		return err
	}
	return p.showPassword(w, r, b, t, "")
}

// passwordShow shows it, once for each time that it is asked for. This answer is the only one that has a password.
func (p *Pages) passwordShow(w http.ResponseWriter, r *http.Request) error {
	b, err := p.readBound(r)
	if err != nil {
		return err
	}
	if auth.ConfirmedUntil(r.Context()).IsZero() {
		return p.showPassword(w, r, b, trouble{status: http.StatusUnauthorized}, notShown)
	}
	got, err := p.cluster.Reveal(r.Context(), b.id, b.ref)
	t, err := troubleOf(err)
	switch {
	case err != nil:
		return err
	case t.stale:
		return p.showPassword(w, r, b, t, notShown)
	case t.status == http.StatusOK:
		b.view.Shown, b.view.Password, b.view.Facts = true, got.Password, factsOf(got)
	}
	return p.showPassword(w, r, b, t, "")
}

func factsOf(got operatorapi.Password) []views.Fact {
	all := []views.Fact{
		{Label: "Username", Value: got.Username, Code: true},
		{Label: "Host", Value: got.Host, Code: true},
		{Label: "Port", Value: got.Port, Code: true},
		{Label: "Database", Value: got.Database, Code: true},
		{Label: "Type", Value: got.Type},
	}
	return slices.DeleteFunc(all, func(f views.Fact) bool { return f.Value == "" })
}

func (p *Pages) showPassword(w http.ResponseWriter, r *http.Request, b bound, t trouble, stale string) (err error) {
	b.view.Problem, b.view.Off = t.words, t.off
	if b.view.Frame, err = p.Frame(r, b.id, b.space, "Password of "+b.ref.Name, b.ref.Kind.Title); err != nil {
		return err
	}
	b.view.Frame.Section, b.view.Frame.Slim = views.Resources, true
	if !b.view.Shown && t.words == "" {
		b.view.Confirm = p.confirming(r.Context(), views.PasswordPath(b.view.Resource.Href), stale)
	}
	if b.view.Shown {
		w.Header().Set("Cache-Control", "no-store")
		auth.Untransformed(w.Header())
	}
	return p.Show(w, r, t.status, views.PasswordPage(b.view))
}
