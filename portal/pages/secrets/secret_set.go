package secrets

import (
	"errors"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// The messages for a sign-in that expired between showing and posting the form.
const (
	notSet = "More than five minutes have passed since you signed in again, so that the value was not set. " +
		"Secret and key are kept for you; the value was thrown away, enter it once more afterwards."
	notDeleted = "More than five minutes have passed since you signed in again, so that nothing was deleted."
	notShown   = "More than five minutes have passed since you signed in again, so that the password was not shown."
)

// set sets the value from the form. No response contains the value.
func (p *Pages) set(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readList(r)
	if err != nil {
		return err
	}
	if err := page.ReadForm(w, r); errors.Is(err, page.ErrLarge) {
		return p.showList(w, r, l, trouble{status: http.StatusRequestEntityTooLarge, words: tooLong}, "")
	} else if err != nil {
		return page.ErrForm // the original error could contain the value
	}
	l.form.Name, l.form.Key = strings.TrimSpace(r.PostForm.Get("name")), strings.TrimSpace(r.PostForm.Get("key"))
	value := valueOf(r.PostForm.Get("value"))
	if err := p.mayUse(r.Context(), l); err != nil {
		return err
	}
	if auth.ConfirmedUntil(r.Context()).IsZero() {
		return p.showList(w, r, l, trouble{status: http.StatusUnauthorized}, notSet)
	}
	if check(&l.form, value) {
		return p.showList(w, r, l, trouble{status: http.StatusUnprocessableEntity}, "")
	}
	_, err = p.Cluster.People.SetSecret(r.Context(), l.id, l.space.Namespace, l.form.Name, operatorapi.SecretChange{
		Set: map[string][]byte{l.form.Key: []byte(value)},
	})
	switch t, err := troubleOf(err); {
	case err != nil:
		return err
	case t.stale:
		return p.showList(w, r, l, t, notSet)
	case t.status != http.StatusOK:
		t.words = "Nothing was set, and the value was thrown away. " + t.words
		return p.showList(w, r, l, t, "")
	}
	return page.SeeOther(w, r, views.SecretDonePath(l.space.Team.ID, "set", l.form.Name, l.form.Key))
}

const tooLong = "Nothing was set: a form takes no more than 1 MB, which is also all that a Secret can hold. The " +
	"command line takes a file: portico secret set NAME KEY=@FILE."

// valueOf returns the value that the user meant: browsers send line ends as CRLF, and a line end after a single line is
// accidental.
func valueOf(sent string) string {
	value := strings.ReplaceAll(sent, "\r\n", "\n")
	if one := strings.TrimRight(value, "\n"); !strings.Contains(one, "\n") {
		return one
	}
	return value
}

// check adds errors to the form and reports whether there are any. The operator checks again.
func check(f *views.SecretForm, value string) (wrong bool) {
	switch {
	case f.Name == "":
		f.NameError = "Enter the name of a Secret."
	case f.Name == operatorapi.SecretIndexName:
		f.NameError = "Portico keeps the names of Secrets there: choose another name."
	case len(validation.IsDNS1123Subdomain(f.Name)) > 0:
		f.NameError = "Use small letters, digits, - and ., at most 253, and begin and end with a letter or a digit."
	}
	switch {
	case f.Key == "":
		f.KeyError = "Enter a key."
	case len(validation.IsConfigMapKey(f.Key)) > 0:
		f.KeyError = "Use letters, digits, -, _ and ., at most 253."
	}
	switch {
	case value == "":
		f.ValueError = "Enter the value."
	case len(value) > operatorapi.MaxSecret:
		f.ValueError = "It is larger than 1 MiB, which is all that a Secret can hold."
	}
	if f.NameError+f.KeyError != "" && value != "" {
		f.ValueError = "Enter it again: a value is never sent back."
	}
	return f.NameError+f.KeyError+f.ValueError != ""
}
