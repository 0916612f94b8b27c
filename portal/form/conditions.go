package form

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// conditions returns the conditions of a field, as inputs of the form. Those on a field that cannot change are
// resolved: one that is met is left out, and never reports one that cannot be met.
func (b builder) conditions(f catalog.Field, path string) (open []views.When, never bool) {
	object := strings.TrimSuffix(path, f.Name)
	if len(f.Needs) == 0 {
		return nil, false
	}
	fields := b.kind.Fields()
	for _, c := range f.Needs {
		at := object + c.Field
		other, _ := fieldAt(fields, at)
		if why, _ := b.fixed(other, at); why == "" {
			open = append(open, views.When{Name: at, Label: c.Label, Unset: c.Unset, Values: c.Values})
		} else if held, _, _ := unstructured.NestedFieldNoCopy(b.Edit.Object.Object, strings.Split(at, ".")...); !meets(
			held, c) {
			never = true
		}
	}
	return open, never
}

// meets reports whether a value, nil for none, satisfies the condition.
func meets(held any, c catalog.Condition) bool {
	if c.Unset || held == nil {
		return c.Unset && held == nil
	}
	return len(c.Values) == 0 || slices.Contains(c.Values, fmt.Sprint(held))
}

// ruledOut reports whether a field of the edited object is unset and can never be set: it gets no input.
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
