package catalog

import (
	"maps"
	"math"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Decode reads a posted form into an object.
//
// An input that the form does not carry keeps the value of base (nil: none), and so does one that holds what Encode shows
// of base: what nobody touched stays to the letter. Any other empty input means absent. A list or map
// is replaced as a whole as soon as one of its inputs, or an input named by the list itself, is posted: post an empty
// hidden input of the list's name, so that the last row can be removed. Row i is that of base with the same index; gaps
// close, empty rows vanish, and path[i]._remove=on removes a row; show the form again from Encode, for error paths
// follow the new indices. An object that is present but empty is posted as path={}.
//
// The object is complete even when there are errors, but for the values that could not be read.
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
	root := Field{Path: "spec", Name: "spec", Type: Object, Fields: k.Fields}
	_, had := obj.Object["spec"]
	if spec, ok := d.object(root, "spec", parseForm(form), obj.Object["spec"]); ok || had || base == nil {
		obj.Object["spec"] = spec
	}
	return obj, d.errs
}

type decoder struct{ errs FieldErrors }

// maxErrors bounds the errors of one form: nobody mends more at a time, and each takes far more room than its value.
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

func (d *decoder) scalar(f Field, path, text string) (any, bool) {
	if text == "" {
		return nil, false
	}
	switch f.Type {
	case Integer:
		return d.integer(f, path, strings.TrimSpace(text))
	case Number:
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			d.fail(path, text, "must be a number, such as 0.5")
			return nil, false
		}
		return v, true
	case Boolean:
		return d.boolean(path, text)
	case YAML:
		v, err := parseValue([]byte(text))
		if err != nil {
			d.fail(path, text, "must be YAML: "+err.Error())
			return nil, false
		}
		return v, v != nil
	case String:
		if f.Format == quantity {
			return spelling(text), true
		}
		return newlines(text), true
	default:
		return newlines(text), true
	}
}

func (d *decoder) integer(f Field, path, text string) (any, bool) {
	bits := 64
	if f.Format == "int32" {
		bits = 32
	}
	v, err := strconv.ParseInt(f.Unit.count(text), 10, bits)
	if err == nil {
		return v, true
	}
	if numError, ok := err.(*strconv.NumError); ok && numError.Err == strconv.ErrRange { //nolint:errorlint // ParseInt returns it unwrapped.
		d.fail(path, text, "is too large or too small a number")
	} else {
		d.fail(path, text, f.Unit.wants())
	}
	return nil, false
}

func (d *decoder) boolean(path, text string) (any, bool) {
	switch strings.ToLower(text) {
	case "true", "on", "yes":
		return true, true
	case "false", "off", "no":
		return false, true
	}
	d.fail(path, text, "must be true or false, or empty for the default")
	return nil, false
}

// newlines undoes what browsers do to the line ends of a textarea: they send each kind of them as CR LF.
func newlines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
