package pages

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// maxForm bounds a posted form, in bytes: an object may be 1.5 MB in etcd, but none of ours comes near 256 kB.
const maxForm = 256 << 10

// asking is one request for a resource, while it is being described.
type asking struct {
	id        auth.Identity
	space     space
	kind      catalog.Kind
	providers []cluster.Provider
	choices   choices
	grant     *v1alpha1.HostnameGrantSpec // of hostnames; nil: none
	form      views.Form                  // title, action and frame
}

func (p *Pages) asking(r *http.Request) (asking, error) {
	id, err := caller(r)
	if err != nil {
		return asking{}, err
	}
	a := asking{id: id, space: p.spaceOf(r)}
	if a.kind, err = kindOf(r, a.space.kinds); err != nil {
		return asking{}, err
	}
	ns := a.space.namespace
	may, err := p.cluster.Can(r.Context(), id, "create", a.kind, ns)
	if err != nil {
		return asking{}, err
	}
	if !may {
		return asking{}, &cluster.ForbiddenError{Verb: "create", Resource: a.kind.Plural, Namespace: ns}
	}
	if a.kind.Namespaced {
		if a.providers, err = p.cluster.Providers(r.Context(), id, a.kind, ns); err != nil {
			return asking{}, err
		}
	}
	if a.choices, err = p.choices(r.Context(), id, a.space, a.kind.Refers); err != nil {
		return asking{}, err
	}
	frame, err := p.frame(r, id, a.space, "Request "+a.kind.Title)
	frame.Section = views.Catalog
	a.form = views.Form{
		Frame: frame, Kind: a.kind.Title, Icon: a.kind.Icon, Help: what(a.kind.Name, a.kind.Help),
		Action: views.RequestPath(a.space.team.ID, a.kind.Plural),
	}
	if err != nil {
		return a, err
	}
	return a, p.grants(r.Context(), &a)
}

// request shows the empty form.
func (p *Pages) request(w http.ResponseWriter, r *http.Request) error {
	a, err := p.asking(r)
	if err != nil {
		return err
	}
	return p.showForm(w, r, a, a.fromForm(a.initial(r.URL.Query())), http.StatusOK)
}

// requestPost does what the pressed button says; each answer shows the form again with all values, but for the one
// that made the resource.
func (p *Pages) requestPost(w http.ResponseWriter, r *http.Request) error {
	a, err := p.asking(r)
	if err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return errors.Join(errForm, err)
	}
	d := a.read(r.PostForm)
	if err := d.tooManyRows(); err != nil {
		return err
	}
	do, about, _ := strings.Cut(last(r.PostForm["do"]), " ")
	switch do {
	case "review":
		return p.review(w, r, a, d)
	case "create":
		return p.create(w, r, a, d)
	case "form":
		d = d.toForm()
	case "yaml":
		d = d.toYAML()
	case "add":
		return p.add(w, r, a, d.withRow(about))
	case "remove":
		removeRow(d.values, about)
		d = a.fromForm(d.values)
		d.focus = about[:max(strings.LastIndexByte(about, '['), 0)]
	}
	d.errs = nil
	if do == "yaml" || do == "form" {
		d.errs = d.unread
	}
	return p.showForm(w, r, a, d, http.StatusOK)
}

// add shows the form with one row more, or why there can be none.
func (p *Pages) add(w http.ResponseWriter, r *http.Request, a asking, d draft) error {
	status := http.StatusOK
	if len(d.errs) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return p.showForm(w, r, a, d, status)
}

// last is the value of the button that was pressed: htmx may send another one's before.
func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// review asks the cluster what it would make of the request.
func (p *Pages) review(w http.ResponseWriter, r *http.Request, a asking, d draft) error {
	if len(d.unread) > 0 {
		d.errs = d.unread
		return p.showForm(w, r, a, d, http.StatusUnprocessableEntity)
	}
	result, err := p.cluster.Create(r.Context(), a.id, a.kind, d.object, true)
	if err != nil {
		return p.refused(w, r, a, d, err)
	}
	wrong, warnings, err := p.judged(r.Context(), a, d.object)
	if err != nil {
		return err
	}
	if d.errs = wrong; len(wrong) > 0 {
		return p.showForm(w, r, a, d, http.StatusUnprocessableEntity)
	}
	result.Warnings = append(warnings, result.Warnings...)
	return p.showReview(w, r, a, d, result)
}

// showReview shows the object as the cluster would store it.
func (p *Pages) showReview(w http.ResponseWriter, r *http.Request, a asking, d draft, result cluster.Result) error {
	view := a.form
	view.Frame.Title = "Review " + d.object.GetName()
	view, err := a.complete(view, d, p.origin)
	if err != nil {
		return err
	}
	asked, err := catalog.ToYAML(d.object)
	if err != nil {
		return err
	}
	stored, err := catalog.ToYAML(result.Object)
	if err != nil {
		return err
	}
	lines, added := compare(string(asked), string(stored))
	return p.show(w, r, http.StatusOK, views.ReviewPage(views.Review{
		Form: view, Name: d.object.GetName(), Lines: lines,
		Added: added, Warnings: result.Warnings,
	}))
}

// create makes the resource and leads to its page.
func (p *Pages) create(w http.ResponseWriter, r *http.Request, a asking, d draft) error {
	if len(d.unread) > 0 {
		d.errs = d.unread
		return p.showForm(w, r, a, d, http.StatusUnprocessableEntity)
	}
	result, err := p.cluster.Create(r.Context(), a.id, a.kind, d.object, false)
	if err != nil {
		return p.refused(w, r, a, d.toForm(), err)
	}
	return seeOther(w, r, views.ResourcePath(a.space.team.ID, a.kind.Plural, result.Object.GetName()))
}

// refused shows the form with what the API server said; errors that are not about the request are errors of the page.
func (p *Pages) refused(w http.ResponseWriter, r *http.Request, a asking, d draft, err error) error {
	d.errs = a.kind.Locate(worthSaying(catalog.FromStatus(err)))
	status := http.StatusUnprocessableEntity
	var forbidden *cluster.ForbiddenError
	switch {
	case len(d.errs) > 0 || errors.As(err, &forbidden):
	case apierrors.IsAlreadyExists(err):
		d.errs = catalog.FieldErrors{{
			Field: "metadata.name", Value: d.object.GetName(),
			Message: "is taken: " + a.space.team.Name + " has a " + strings.ToLower(a.kind.Title) + " of this name; choose another one",
		}}
		status = http.StatusConflict
	case apierrors.IsForbidden(err): // by admission: a quota or a policy, whose words are for the user
		d.errs = catalog.FieldErrors{{Message: prose.Sentence(admissionWords(err))}}
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		d.errs = catalog.FieldErrors{{Message: prose.Sentence(admissionWords(err))}}
	}
	if len(d.errs) == 0 {
		return err
	}
	return p.showForm(w, r, a, d, status)
}

// worthSaying leaves out the API server's note that it stopped at the first kind of errors: mending those shows the
// others soon enough.
func worthSaying(errs catalog.FieldErrors) catalog.FieldErrors {
	if len(errs) < 2 {
		return errs
	}
	return slices.DeleteFunc(errs, func(e catalog.FieldError) bool {
		return strings.HasPrefix(e.Message, "some validation rules were not checked")
	})
}

// admissionWords is the message of a refusal without the API server's introduction.
func admissionWords(err error) string {
	words := err.Error()
	for _, lead := range []string{"forbidden: ", "denied request: ", "is invalid: "} {
		if _, rest, ok := strings.Cut(words, lead); ok {
			words = rest
		}
	}
	return words
}

func (p *Pages) showForm(w http.ResponseWriter, r *http.Request, a asking, d draft, status int) error {
	view, err := a.complete(a.form, d, p.origin)
	if err != nil {
		return err
	}
	if err := p.withCheck(r.Context(), a, d, &view); err != nil {
		return err
	}
	return p.show(w, r, status, views.FormPage(view))
}
