package catalog

import (
	"maps"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Decode reads a posted form into an object.
//
// An input that is not in the form keeps the value of base (nil: none), and so does one whose value is what Encode
// returns for base: untouched values stay exactly the same. Any other empty input means absent. A list or map is
// replaced as a whole as soon as one of its inputs, or an input with the list's own name, is posted: post an empty
// hidden input with the list's name, so that the last row can be removed. Row i is that of base with the same index;
// gaps close, empty rows are dropped, and path[i]._remove=on removes a row. Show the form again from Encode, because
// error paths use the new indices. An object that is present but empty is posted as path={}.
//
// The object is complete even when there are errors, except for the values that could not be read.
func (k Kind) Decode(form url.Values, base *unstructured.Unstructured) (*unstructured.Unstructured, FieldErrors) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if base != nil {
		obj = base.DeepCopy()
	}
	obj.SetGroupVersionKind(k.GVK())
	if form.Has("metadata.name") {
		obj.SetName(strings.TrimSpace(form.Get("metadata.name")))
	}
	if k.Namespaced && form.Has("metadata.namespace") {
		obj.SetNamespace(form.Get("metadata.namespace"))
	}
	d := decoder{}
	root := Field{Path: "spec", Name: "spec", Type: Object, Fields: k.Fields()}
	_, had := obj.Object["spec"]
	if spec, ok := d.object(root, "spec", parseForm(form), obj.Object["spec"]); ok || had || base == nil {
		obj.Object["spec"] = spec
	}
	return obj, d.errs
}

type decoder struct{ errs FieldErrors }

// maxErrors bounds the errors of one form: nobody fixes more at a time, and each takes much more space than its value.
const maxErrors = 100

func (d *decoder) fail(path, value, message string) {
	if len(d.errs) == maxErrors {
		return
	}
	d.errs = append(d.errs, FieldError{Field: path, Message: message, Value: value})
}

// value reads one field; false means absent.
func (d *decoder) value(f Field, path string, n *node, base any) (any, bool) {
	if n == nil || untouched(f, n, base) {
		return base, base != nil
	}
	switch f.Type {
	case Object:
		return d.object(f, path, n, base)
	case Array:
		if f.ListOfScalars() {
			return d.scalars(f, path, n, base)
		}
		return d.rows(f, path, n, base)
	case Map:
		return d.entries(f, path, n, base)
	default:
		return d.scalar(f, path, n.last())
	}
}

func (d *decoder) object(f Field, path string, n *node, base any) (any, bool) {
	was, _ := base.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, was)
	for _, c := range f.Fields {
		delete(out, c.Name)
		if v, ok := d.value(c, path+"."+c.Name, n.child(c.Name), was[c.Name]); ok {
			out[c.Name] = v
		}
	}
	empty := (was != nil && len(was) == 0) || n.last() == "{}"
	return out, len(out) > 0 || empty
}
