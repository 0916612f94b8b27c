package form

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
)

const (
	// MaxBytes bounds a posted form, in bytes; the server accepts little more for any request.
	MaxBytes = 1 << 20
	// MaxText bounds the YAML of an edited object, in bytes: a form in conflict carries three versions of it, and a
	// browser may encode each byte as three.
	MaxText = 96 << 10
	// MaxYAML bounds the YAML that is parsed at all, in bytes: parsing takes many times the memory.
	MaxYAML = 256 << 10
)

// SizeError reports that an object is too large for forms. Its text is for the user.
type SizeError struct{ bytes, limit int }

func (e *SizeError) Error() string {
	return fmt.Sprintf("as YAML it has %d kB, and forms take %d", (e.bytes+1023)>>10, e.limit>>10)
}

// Parse parses YAML within the size limit, with line ends as browsers send them.
func Parse(kind catalog.Kind, text string) (*unstructured.Unstructured, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if len(text) > MaxYAML {
		return nil, fmt.Errorf("this is too large: %w", &SizeError{len(text), MaxYAML})
	}
	return kind.ParseYAML([]byte(text))
}

// Sized returns a *SizeError if forms cannot carry an edit of the object.
func Sized(obj *unstructured.Unstructured) error {
	text, err := catalog.ToYAML(obj)
	if err != nil {
		return err
	}
	return sizedText(text)
}

func sizedText[T ~string | ~[]byte](text T) error {
	if len(text) > MaxText {
		return &SizeError{len(text), MaxText}
	}
	return nil
}

// outgrown returns the errors of a draft that has become too large for its review.
func (d Draft) outgrown() catalog.FieldErrors {
	if d.Edit == nil {
		return nil
	}
	err := sizedText(d.yaml)
	if err == nil {
		err = Sized(d.Object)
	}
	if err == nil {
		return nil
	}
	return catalog.FieldErrors{
		{Message: "it is too large: " + err.Error() + "; make it smaller, or copy the YAML and take it to kubectl"},
	}
}
