package request

import (
	"context"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// formPage returns the view of a form without the draft.
func (p *Pages) formPage(r *http.Request, f formRequest) (views.Form, error) {
	title := []string{"Request " + f.kind.Title}
	switch {
	case f.edit != nil:
		title = []string{"Edit " + f.edit.Name, f.kind.Title}
	case f.kind.ID() == page.TeamKind:
		title = []string{"New team"}
	}
	frame, err := p.Frame(r, f.id, f.space, title...)
	if err != nil {
		return views.Form{}, err
	}
	if f.kind.ID() == page.TeamKind {
		return teamFormPage(frame, f), nil
	}
	if f.edit != nil {
		frame.Section = views.Resources
		view := views.EditForm(frame, f.kind.Title, f.kind.Plural, f.edit.Name)
		view.Icon = f.kind.Icon
		return view, nil
	}
	frame.Section = views.Catalog
	view := views.RequestForm(frame, f.kind.Title, f.kind.Plural)
	view.Icon, view.Help = f.kind.Icon, page.What(f.kind.Name, f.kind.Help)
	return view, nil
}

// showForm shows a draft in its form.
func (p *Pages) showForm(w http.ResponseWriter, r *http.Request, f formRequest, d form.Draft, status int) error {
	offers, err := p.offers(r.Context(), f)
	if err != nil {
		return err
	}
	return p.showFormWith(w, r, f, d, offers, status)
}

// showFormWith shows a draft in its form, with these offers.
func (p *Pages) showFormWith(w http.ResponseWriter, r *http.Request, f formRequest, d form.Draft, offers form.Offers,
	status int,
) error {
	view, err := p.formPage(r, f)
	if err != nil {
		return err
	}
	if view, err = d.View(view, offers, p.portal); err != nil {
		return err
	}
	view.Entered = r.Method == http.MethodPost
	view.Closed = closed(f, offers, view.Entered)
	if view.Warning, err = p.deletingWarning(r.Context(), f); err != nil {
		return err
	}
	if offers.Grant != nil {
		if err := p.addCheck(r.Context(), f, d, view.Basic); err != nil {
			return err
		}
	}
	return p.Show(w, r, status, views.FormPage(view))
}

// closed returns why the form accepts no input. An object that became too large during an edit keeps its form.
func closed(f formRequest, offers form.Offers, entered bool) views.Closed {
	if page.IsHostname(f.kind) && offers.Grant == nil {
		return withoutGrant(f.space.Team.Name)
	}
	if f.edit == nil {
		return views.Closed{}
	}
	if f.kind.Fixed != "" {
		return views.Closed{Title: "It cannot be edited", Text: humanize.Sentence(f.kind.Fixed)}
	}
	if err := form.Sized(f.edit.Object); err != nil && !entered {
		return views.Closed{
			Title: "It is too large to edit here",
			Text: "It cannot be edited here: " + err.Error() + ". Edit it with " + inEditor(f) +
				", or over the REST API.",
		}
	}
	return views.Closed{}
}

// deletingWarning returns the form's warning that the object is being deleted. If it is gone, the response to the post
// says so.
func (p *Pages) deletingWarning(ctx context.Context, f formRequest) (string, error) {
	if f.edit == nil {
		return "", nil
	}
	obj, err := p.Cluster.Objects.Get(ctx, f.id, f.ref(f.edit.Name))
	if apierrors.IsNotFound(err) || page.Unseen(err) {
		return "", nil
	}
	if err != nil || obj.GetDeletionTimestamp() == nil {
		return "", err
	}
	return form.DeletingWarning(f.kind, f.edit.Name), nil
}

// addCheck adds the check of the current hostname to its input.
func (p *Pages) addCheck(ctx context.Context, f formRequest, d form.Draft, fields []views.Field) error {
	i := slices.IndexFunc(fields, func(f views.Field) bool { return f.Name == form.HostnameField })
	if i < 0 {
		return nil
	}
	check, err := p.checkOf(ctx, f.id, f.space, queryOfObject(d.Object))
	fields[i].Check = &check
	return err
}
