package pages

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/web/views"
)

// asking is one object while it is being described: a new one, or one that is edited.
type asking struct {
	id        auth.Identity
	space     space
	kind      catalog.Kind
	providers []cluster.Provider
	choices   choices
	grant     *v1alpha1.HostnameGrantSpec // of hostnames; nil: none
	zones     map[string]string           // domains of hosted zones that hostnames may be in, by ID, as far as they are known
	edit      *editing                    // nil: a new object is asked for
	form      views.Form                  // title, action and frame
}

// asking is who asks for what kind. Without the right to verb it there is nothing to describe.
func (p *Pages) asking(r *http.Request, kinds func(space) catalog.Catalog, verb string) (asking, error) {
	id, err := caller(r)
	if err != nil {
		return asking{}, err
	}
	a := asking{id: id, space: p.spaceOf(r)}
	if a.kind, err = kindOf(r, kinds(a.space)); err != nil {
		return asking{}, err
	}
	may, err := p.cluster.Can(r.Context(), id, verb, a.kind, a.space.namespace)
	if err == nil && !may {
		err = &cluster.ForbiddenError{Verb: verb, Resource: a.kind.Plural, Namespace: a.space.namespace}
	}
	return a, err
}

// addChoices adds what the inputs offer.
func (p *Pages) addChoices(ctx context.Context, a *asking) (err error) {
	if a.kind.Namespaced {
		if a.providers, err = p.cluster.Providers(ctx, a.id, a.kind, a.space.namespace); err != nil {
			return err
		}
	}
	if a.choices, err = p.choices(ctx, a.id, a.space, a.kind.Refers); err != nil {
		return err
	}
	return p.grants(ctx, a)
}

func requestable(s space) catalog.Catalog { return s.kinds }

// requesting is who asks for a new object.
func (p *Pages) requesting(r *http.Request) (asking, error) {
	a, err := p.asking(r, requestable, "create")
	if err != nil {
		return asking{}, err
	}
	frame, err := p.frame(r, a.id, a.space, "Request "+a.kind.Title)
	if err != nil {
		return asking{}, err
	}
	frame.Section = views.Catalog
	a.form = views.RequestForm(frame, a.kind.Title, a.kind.Plural)
	a.form.Icon, a.form.Help = a.kind.Icon, what(a.kind.Name, a.kind.Help)
	return a, p.addChoices(r.Context(), &a)
}

// request shows the empty form.
func (p *Pages) request(w http.ResponseWriter, r *http.Request) error {
	a, err := p.requesting(r)
	if err != nil {
		return err
	}
	d := a.fromForm(a.initial(r.URL.Query()))
	if like := r.URL.Query().Get("like"); like != "" {
		if d, err = p.another(r.Context(), a, like); err != nil {
			return err
		}
	}
	return p.showForm(w, r, a, d, http.StatusOK)
}

// requestPost does what the pressed button says; each answer shows the form again with all values, but for the one
// that made the resource.
func (p *Pages) requestPost(w http.ResponseWriter, r *http.Request) error {
	a, err := p.requesting(r)
	if err != nil {
		return err
	}
	if err := readForm(w, r); err != nil {
		return err
	}
	return p.answer(w, r, a)
}

// readForm reads a posted form of a bounded size.
func readForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	var large *http.MaxBytesError
	err := r.ParseForm()
	switch {
	case errors.As(err, &large):
		return errLarge
	case err != nil:
		return errors.Join(errForm, err)
	}
	return nil
}

// answer does what the pressed button of a form says.
func (p *Pages) answer(w http.ResponseWriter, r *http.Request, a asking) error {
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
		d = d.withoutRow(about)
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

// send gives the cluster what the draft describes, or with dryRun asks what it would make of it.
func (p *Pages) send(ctx context.Context, a asking, d draft, dryRun bool) (cluster.Result, error) {
	if a.edit != nil {
		return p.cluster.Edit(ctx, a.id, a.kind, a.edit.began, d.object, dryRun)
	}
	return p.cluster.Create(ctx, a.id, a.kind, d.object, dryRun)
}

// review asks the cluster what it would make of the request.
func (p *Pages) review(w http.ResponseWriter, r *http.Request, a asking, d draft) error {
	if d.unreadable() {
		d.errs = d.unread
		return p.showForm(w, r, a, d, http.StatusUnprocessableEntity)
	}
	result, wrong, err := p.examine(r.Context(), a, d)
	if err != nil {
		return p.refused(w, r, a, d, err)
	}
	var warnings []string
	if len(wrong) == 0 {
		if wrong, warnings, err = p.judged(r.Context(), a, d.object); err != nil {
			return err
		}
	}
	if d.errs = wrong; len(wrong) > 0 {
		return p.showForm(w, r, a, d, http.StatusUnprocessableEntity)
	}
	result.Warnings = slices.Concat(untaken(d.object), warnings, result.Warnings)
	return p.showReview(w, r, a, d, result)
}

// untaken warns of what was written and is not sent.
func untaken(obj *unstructured.Unstructured) []string {
	all := catalog.Untaken(obj)
	if len(all) == 0 {
		return nil
	}
	return []string{"Not taken from your YAML: " + strings.Join(all, ", ") + ". Kubernetes and Portico write these themselves; what there is of them stays."}
}

// showReview shows the object as the cluster would store it.
func (p *Pages) showReview(w http.ResponseWriter, r *http.Request, a asking, d draft, result cluster.Result) error {
	form := a.form
	form.Frame.Title = "Review " + d.object.GetName()
	form, err := a.complete(form, d, p.reach.Portal)
	if err != nil {
		return err
	}
	view, err := a.reviewed(form, d, result)
	if err != nil {
		return err
	}
	return p.show(w, r, http.StatusOK, views.ReviewPage(view))
}

// reviewed compares what would be stored with what is asked for; with what there is, if it is edited.
func (a asking) reviewed(form views.Form, d draft, result cluster.Result) (views.Review, error) {
	view := views.Review{Form: form, Name: d.object.GetName(), Warnings: result.Warnings}
	if a.edit != nil {
		return a.change(view, d, result)
	}
	var err error
	view.Lines, view.Added, err = compareObjects(d.object, result.Object)
	return view, err
}

// create makes the resource, or changes it, and leads to its page.
func (p *Pages) create(w http.ResponseWriter, r *http.Request, a asking, d draft) error {
	if len(d.unread) > 0 {
		d.errs = d.unread
		return p.showForm(w, r, a, d, http.StatusUnprocessableEntity)
	}
	result, err := p.send(r.Context(), a, d, false)
	switch {
	case apierrors.IsInvalid(err): // there may be more wrong than this
		return p.review(w, r, a, d.toForm())
	case err != nil:
		return p.refused(w, r, a, d.toForm(), err)
	}
	return seeOther(w, r, a.after(result))
}

// after is where a write leads: to the page of the resource, or to the list if there is soon none.
func (a asking) after(result cluster.Result) string {
	path := views.ResourcePath(a.space.team.ID, a.kind.Plural, result.Object.GetName())
	if a.edit == nil {
		return path
	}
	if _, atOnce := fateOf(result.Object, a.kind); atOnce && result.Object.GetDeletionTimestamp() != nil {
		return views.TeamPath(a.space.team.ID)
	}
	return views.AppliedPath(path, result.Object.GetGeneration())
}

func (p *Pages) showForm(w http.ResponseWriter, r *http.Request, a asking, d draft, status int) error {
	view, err := a.complete(a.form, d, p.reach.Portal)
	if err != nil {
		return err
	}
	view.Entered = r.Method == http.MethodPost
	if err := p.withCheck(r.Context(), a, d, &view); err != nil {
		return err
	}
	return p.show(w, r, status, views.FormPage(view))
}
