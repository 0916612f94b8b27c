package secrets

import (
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// bound is a request about an object with connection details.
type bound struct {
	id    auth.Identity
	space page.Space
	ref   catalog.Ref
	obj   *unstructured.Unstructured
	view  views.PasswordView
}

// readBound returns the object, and whose password the request is about.
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
	if b.obj, err = p.Cluster.Objects.Get(r.Context(), b.id, b.ref); err != nil {
		return b, err
	}
	b.view = views.PasswordView{
		Resource: page.ResourceOf(b.space, b.ref.Kind, b.obj, p.Now()),
		Secret:   catalog.TextAt(b.obj, "status", "binding", "name"),
	}
	if b.view.Secret != "" {
		err = p.choose(r, &b)
	}
	return b, err
}

// choose decides whose password the request is about: for a database, that of the caller's own user, if they can have
// one and do not request the master password. It returns a *failure.ForbiddenError for a password that they cannot see.
func (p *Pages) choose(r *http.Request, b *bound) error {
	may, err := p.Cluster.People.Passwords(r.Context(), b.id, b.ref, b.obj, b.view.Secret)
	if err != nil {
		return err
	}
	isDatabase, asked := b.ref.Kind.ID() == v1alpha1.KindRDSInstance, r.URL.Query().Has(operatorapi.AsMaster)
	switch {
	case may.Own != "" && !asked:
		b.view.Own = access.DatabaseWords(may.Own)
		if may.Object {
			b.view.Master = views.MasterPasswordPath(b.view.Resource.Href)
		}
		return nil
	case may.Object:
		b.view.IsMaster = isDatabase
		return nil
	case asked, isDatabase && may.NoOwn != "":
		return forbidden(operatorapi.MasterVerb, operatorapi.DatabaseResource, b.ref, b.ref.Name)
	case isDatabase:
		return forbidden(operatorapi.ReadVerb, operatorapi.DatabaseResource, b.ref, b.ref.Name)
	}
	return forbidden("get", "secrets", b.ref, b.view.Secret)
}

func forbidden(verb, resource string, of catalog.Ref, name string) error {
	return &failure.ForbiddenError{Verb: verb, Resource: resource, Namespace: of.Namespace, Name: name}
}

// path returns the address of the page.
func (b bound) path() string {
	if b.view.IsMaster {
		return views.MasterPasswordPath(b.view.Resource.Href)
	}
	return views.PasswordPath(b.view.Resource.Href)
}

// passwordAsk asks for confirmation before a password is shown.
func (p *Pages) passwordAsk(w http.ResponseWriter, r *http.Request) error {
	b, err := p.readBound(r)
	if err != nil {
		return err
	}
	if b.view.Secret == "" {
		return p.showPassword(w, r, b, trouble{status: http.StatusConflict, words: b.ref.Name + " has no connection " +
			"details yet: wait until it is Ready."}, "")
	}
	t, err := p.served(r.Context())
	if err != nil {
		return err
	}
	return p.showPassword(w, r, b, t, "")
}

// passwordShow shows the password, once per request. No other response contains a password.
func (p *Pages) passwordShow(w http.ResponseWriter, r *http.Request) error {
	b, err := p.readBound(r)
	if err != nil {
		return err
	}
	if auth.ConfirmedUntil(r.Context()).IsZero() {
		return p.showPassword(w, r, b, trouble{status: http.StatusUnauthorized}, notShown)
	}
	got, err := p.Cluster.People.Reveal(r.Context(), b.id, b.ref, b.view.IsMaster)
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
	if got.ExpiresAt != nil {
		all = append(all, views.Fact{Label: "Until", Value: got.ExpiresAt.UTC().Format("2006-01-02 15:04 UTC")})
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
		b.view.Confirm = p.confirming(r.Context(), b.path(), stale)
	}
	if b.view.Shown {
		w.Header().Set("Cache-Control", "no-store")
		auth.Untransformed(w.Header())
	}
	return p.Show(w, r, t.status, views.PasswordPage(b.view))
}
