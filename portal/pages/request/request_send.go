package request

import (
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/deletion"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// requestForm shows the form of a new object: empty, or as a copy of another one.
func (p *Pages) requestForm(w http.ResponseWriter, r *http.Request) error {
	f, err := p.formRequest(r, requestable, "create")
	if err != nil {
		return err
	}
	offers, err := p.offers(r.Context(), f)
	if err != nil {
		return err
	}
	d := form.Fresh(f.kind, r.URL.Query(), f.facts(), offers)
	if like := r.URL.Query().Get("like"); like != "" {
		obj, err := p.Cluster.Objects.Get(r.Context(), f.id, f.ref(like))
		if err != nil {
			return err
		}
		if d, err = form.Like(f.kind, obj, f.facts()); err != nil {
			return err
		}
	}
	if arn := r.URL.Query().Get(views.RestoreFrom); arn != "" {
		was, there, err := p.restored(r.Context(), f, arn, offers)
		if err != nil {
			return err
		}
		if !there {
			return page.SeeOther(w, r, views.DeletedPath(f.space.Team.ID))
		}
		d = was
	}
	return p.showFormWith(w, r, f, d, offers, http.StatusOK)
}

// requestPost handles the pressed button; each response shows the form again with all values, except after creating the
// resource.
func (p *Pages) requestPost(w http.ResponseWriter, r *http.Request) error {
	f, err := p.formRequest(r, requestable, "create")
	if err != nil {
		return err
	}
	if err := page.ReadForm(w, r); err != nil {
		return err
	}
	return p.answer(w, r, f)
}

// answer handles the pressed button of a form.
func (p *Pages) answer(w http.ResponseWriter, r *http.Request, f formRequest) error {
	d := form.Decode(f.kind, r.PostForm, f.facts())
	if err := d.TooManyRows(); err != nil {
		return err
	}
	status := http.StatusOK
	do, about, _ := strings.Cut(last(r.PostForm["do"]), " ")
	switch do {
	case "review":
		return p.review(w, r, f, d)
	case "create":
		return p.create(w, r, f, d)
	case "form":
		if about == "" && d.Commented() {
			return p.showForm(w, r, f, d.Asking(), status)
		}
		d = d.ToForm()
		d.Errors = d.Unread
	case "yaml":
		d = d.ToYAML()
		d.Errors = d.Unread
	case "add":
		if d = d.WithRow(about); len(d.Errors) > 0 { // the list is full
			status = http.StatusUnprocessableEntity
		}
	case "remove":
		d = d.WithoutRow(about)
	}
	return p.showForm(w, r, f, d, status)
}

// last returns the value of the pressed button: htmx may send another button's value before it.
func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// review shows a dry run of the request. more are additional warnings.
func (p *Pages) review(w http.ResponseWriter, r *http.Request, f formRequest, d form.Draft, more ...string) error {
	if d.Unreadable() {
		d.Errors = d.Unread
		return p.showForm(w, r, f, d, http.StatusUnprocessableEntity)
	}
	d, misplaced, err := p.withZone(r.Context(), f, d)
	if err != nil {
		return err
	}
	if d, err = p.withUsers(r.Context(), f, d); err != nil {
		return err
	}
	result, wrong, err := p.examine(r.Context(), f, d)
	if err != nil {
		return p.refused(w, r, f, d, err)
	}
	wrong = instead(wrong, misplaced)
	var holdUps []string
	if len(wrong) == 0 {
		if wrong, holdUps, err = p.judged(r.Context(), f, d.Object); err != nil {
			return err
		}
	}
	if d.Errors = wrong; len(wrong) > 0 {
		return p.showForm(w, r, f, d, http.StatusUnprocessableEntity)
	}
	missing, err := p.missing(r.Context(), f, result.Object)
	if err != nil {
		return err
	}
	result.Warnings = slices.Concat(untaken(d.Object), more, result.Warnings)
	return p.showReview(w, r, f, d, result, append(holdUps, missing...))
}

// instead returns the errors, with those about the same fields replaced by better ones.
func instead(errs, better catalog.FieldErrors) catalog.FieldErrors {
	errs = slices.DeleteFunc(errs, func(e catalog.FieldError) bool { return about(better, e.Field) })
	return append(errs, better...)
}

// untaken returns warnings about input that is not sent.
func untaken(obj *unstructured.Unstructured) []string {
	all := catalog.Untaken(obj)
	if len(all) == 0 {
		return nil
	}
	return []string{"Not taken from your YAML: " + strings.Join(all, ", ") + ". Kubernetes and Portico write these " +
		"themselves; what there is of them stays."}
}

// showReview shows the object as the cluster would store it, and why it could not become Ready at present.
func (p *Pages) showReview(w http.ResponseWriter, r *http.Request, f formRequest, d form.Draft, result write.Result,
	holdUps []string,
) error {
	view, err := p.formPage(r, f)
	if err != nil {
		return err
	}
	view.Frame.Title = page.Title(f.space, "Review "+d.Object.GetName(), f.kind.Title)
	if view, err = d.Carry(view, p.portal); err != nil {
		return err
	}
	review, err := d.Review(view, form.Stored{
		Object: result.Object, Was: result.Was, HoldUps: holdUps,
		Warnings: result.Warnings,
	})
	if err != nil {
		return err
	}
	return p.Show(w, r, http.StatusOK, views.ReviewPage(review))
}

// create creates or changes the resource, and redirects to its page.
func (p *Pages) create(w http.ResponseWriter, r *http.Request, f formRequest, d form.Draft) error {
	if len(d.Unread) > 0 {
		d.Errors = d.Unread
		return p.showForm(w, r, f, d, http.StatusUnprocessableEntity)
	}
	result, err := p.send(r.Context(), f, d.Object, false)
	switch {
	case apierrors.IsInvalid(err): // there may be further errors
		return p.review(w, r, f, d.ToForm())
	case err != nil:
		return p.refused(w, r, f, d.ToForm(), err)
	}
	return page.SeeOther(w, r, f.after(result))
}

// after returns where a write redirects: to the page of the resource, or to the list if it will soon be deleted.
func (f formRequest) after(result write.Result) string {
	if f.kind.ID() == page.TeamKind {
		return views.OwnerPath(result.Object.GetName())
	}
	path := views.ResourcePath(f.space.Team.ID, f.kind.Plural, result.Object.GetName())
	if f.edit == nil {
		return path
	}
	if _, atOnce := deletion.Fate(result.Object, f.kind); atOnce && result.Object.GetDeletionTimestamp() != nil {
		return views.TeamPath(f.space.Team.ID)
	}
	return views.AppliedPath(path, result.Object.GetGeneration())
}
