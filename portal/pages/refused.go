package pages

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/prose"
)

// refused shows the form with what the API server said; errors that are not about the request are errors of the page.
func (p *Pages) refused(w http.ResponseWriter, r *http.Request, a asking, d draft, err error) error {
	var changed *cluster.ChangedError
	switch {
	case errors.As(err, &changed) && a.edit != nil:
		return p.showConflict(w, r, a, d, changed.Now)
	case apierrors.IsNotFound(err) && a.edit != nil:
		return p.showGone(w, r, a, d)
	}
	d.errs = a.kind.Locate(worthSaying(catalog.FromStatus(err)))
	status := http.StatusUnprocessableEntity
	var forbidden *cluster.ForbiddenError
	switch {
	case len(d.errs) > 0 || errors.As(err, &forbidden):
	case apierrors.IsAlreadyExists(err):
		d.errs = catalog.FieldErrors{a.taken(d)}
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
		return e.Message == catalog.Unchecked
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
	return catalog.Admission(words)
}
