package page

import (
	"errors"
	"net/http"

	"github.com/portico-platform/portico/portal/form"
)

// ReadForm reads a posted form of a bounded size.
func ReadForm(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, form.MaxBytes)
	var large *http.MaxBytesError
	err := r.ParseForm()
	switch {
	case errors.As(err, &large):
		return ErrLarge
	case err != nil:
		return errors.Join(ErrForm, err)
	}
	return nil
}
