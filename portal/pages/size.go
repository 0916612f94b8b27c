package pages

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

const (
	// maxForm bounds a posted form, in bytes; the server takes little more of any request.
	maxForm = 1 << 20
	// maxText bounds the YAML of an object that is edited, in bytes: a form in conflict carries three versions of it, of
	// which a browser may spell each byte with three.
	maxText = 96 << 10
	// maxYAML bounds the YAML that is read at all, in bytes: reading takes many times the room.
	maxYAML = 256 << 10
)

// sizeError says that an object is too large for forms. Its text is for the user.
type sizeError struct{ bytes, limit int }

func (e *sizeError) Error() string {
	return fmt.Sprintf("as YAML it has %d kB, and forms take %d", (e.bytes+1023)>>10, e.limit>>10)
}

// parse reads YAML of a size that is read.
func (a asking) parse(text string) (*unstructured.Unstructured, error) {
	if len(text) > maxYAML {
		return nil, fmt.Errorf("this is too large: %w", &sizeError{len(text), maxYAML})
	}
	return a.kind.ParseYAML([]byte(text))
}

// sized is nil, or a *sizeError: forms cannot carry an edit of the object.
func sized(obj *unstructured.Unstructured) error {
	text, err := catalog.ToYAML(obj)
	if err != nil {
		return err
	}
	return sizedText(text)
}

func sizedText[T ~string | ~[]byte](text T) error {
	if len(text) > maxText {
		return &sizeError{len(text), maxText}
	}
	return nil
}

// closeIfLarge closes the form of an object that forms cannot carry, before anything is entered.
func (a *asking) closeIfLarge(obj *unstructured.Unstructured) {
	if err := sized(obj); err != nil && a.form.Closed.Title == "" {
		a.form.Closed = views.Closed{Title: "It is too large to edit here", Text: "It cannot be edited here: " + err.Error() + ". " + a.elsewhere()}
	}
}

// elsewhere is how to edit without the portal.
func (a asking) elsewhere() string {
	command := "kubectl edit " + a.kind.Plural + "/" + a.edit.ref.Name
	if a.kind.Namespaced {
		command += " -n " + a.space.namespace
	}
	return "Edit it with " + command + ", or over the REST API."
}

// outgrown are the errors of a draft that has become too large for the way to its review.
func (d draft) outgrown() catalog.FieldErrors {
	if d.asking.edit == nil {
		return nil
	}
	err := sizedText(d.yaml)
	if err == nil {
		err = sized(d.object)
	}
	if err == nil {
		return nil
	}
	return catalog.FieldErrors{{Message: "it is too large: " + err.Error() + "; make it smaller, or copy the YAML and take it to kubectl"}}
}

// showOutgrown shows the form again because what somebody else made of the object is too large to be put beside it.
func (p *Pages) showOutgrown(w http.ResponseWriter, r *http.Request, a asking, d draft, err error) error {
	d.errs = catalog.FieldErrors{{
		Message: "somebody else changed it while you edited, and it is too large now to be merged here: " + err.Error() +
			"; nothing of yours is lost: copy your YAML, and take it to kubectl",
	}}
	return p.showForm(w, r, a, d, http.StatusConflict)
}
