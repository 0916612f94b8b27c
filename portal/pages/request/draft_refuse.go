package request

import (
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
)

// worthSaying leaves out the API server's note that it skipped further checks: fixing the errors will show the others.
func worthSaying(errs catalog.FieldErrors) catalog.FieldErrors {
	if len(errs) < 2 {
		return errs
	}
	return slices.DeleteFunc(errs, func(e catalog.FieldError) bool {
		return e.Message == catalog.Unchecked
	})
}

// refused shows the form with the API server's errors; errors that are not about the request get an error page.
func (p *Pages) refused(w http.ResponseWriter, r *http.Request, f formRequest, d form.Draft, err error) error {
	var changed *failure.ChangedError
	switch {
	case errors.As(err, &changed) && f.edit != nil:
		return p.showConflict(w, r, f, d, changed.Now)
	case apierrors.IsNotFound(err) && f.edit != nil:
		return p.showGone(w, r, f, d)
	}
	d.Errors = worthSaying(d.Locate(err))
	status := http.StatusUnprocessableEntity
	var forbidden *failure.ForbiddenError
	switch {
	case len(d.Errors) > 0 || errors.As(err, &forbidden):
	case apierrors.IsAlreadyExists(err):
		d.Errors = catalog.FieldErrors{d.Taken()}
		status = http.StatusConflict
	case apierrors.IsForbidden(err): // by admission: a quota's or policy's message is for the user
		d.Errors = catalog.FieldErrors{{Message: humanize.Sentence(page.AdmissionWords(err))}}
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		d.Errors = catalog.FieldErrors{{Message: humanize.Sentence(page.AdmissionWords(err))}}
	}
	if len(d.Errors) == 0 {
		return err
	}
	return p.showForm(w, r, f, d, status)
}
