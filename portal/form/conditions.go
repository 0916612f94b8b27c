package form

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// conditions returns those of a field at inputs of the form. What they say of a field that cannot change is settled:
// met, it says nothing more; never says that it cannot be met.
func (b builder) conditions(f catalog.Field, path string) (open []views.When, never bool) {
	object := strings.TrimSuffix(path, f.Name)
	for _, c := range f.Needs {
		at := object + c.Field
		other, _ := fieldAt(b.kind.Fields, at)
		if why, _ := b.fixed(other, at); why == "" {
			open = append(open, views.When{Name: at, Label: c.Label, Unset: c.Unset, Values: c.Values})
		} else if held, _, _ := unstructured.NestedFieldNoCopy(b.Edit.Object.Object, strings.Split(at, ".")...); !meets(held, c) {
			never = true
		}
	}
	return open, never
}

// meets reports whether a value, nil for none, is what the condition wants of its field.
func meets(held any, c catalog.Condition) bool {
	if c.Unset || held == nil {
		return c.Unset && held == nil
	}
	return len(c.Values) == 0 || slices.Contains(c.Values, fmt.Sprint(held))
}

// ruledOut reports whether a field can never be set on the object that is edited, and is not: there is no input for it.
func (b builder) ruledOut(f catalog.Field, path string) bool {
	if _, never := b.conditions(f, path); !never {
		return false
	}
	for name := range b.values {
		beneath := strings.HasPrefix(name, path+".") || strings.HasPrefix(name, path+"[")
		if (name == path || beneath) && slices.ContainsFunc(b.values[name], func(v string) bool { return v != "" }) {
			return false
		}
	}
	return true
}
