// Package form reads the input about an object of any kind, as form fields or as YAML, and lays out the inputs that
// show it again. It depends only on the kind's schema and the facts passed to it: it sends no requests and handles
// none.
package form

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// NameField is the input of an object's name.
const NameField = "metadata.name"

// Facts are the namespace and the version of the form's object.
type Facts struct {
	Team      views.Team
	Namespace string // "" for a cluster-scoped object
	Edit      *Edit  // nil: a new object is described
	People    People // names of users and groups
	Kinds     catalog.Catalog
}

// called returns the display name of a kind, for use within a sentence.
func (f Facts) called(kind string) string {
	if k, ok := f.Kinds.ByName(kind); ok {
		return k.Noun()
	}
	return kind
}

// Edit is an object being edited, in the version at which the user began. Forms carry that version through all pages of
// an edit.
type Edit struct {
	Name   string
	ETag   string
	Object *unstructured.Unstructured
	Made   []string // see catalog.Kind.Made
}

// subject is the described object: its kind, and the facts about it.
type subject struct {
	kind catalog.Kind
	Facts
}

// Draft is the user's input so far, as form fields or as YAML. values and yaml are exactly as entered, so that nothing
// is lost.
type Draft struct {
	subject
	Object *unstructured.Unstructured // what could be read
	Unread catalog.FieldErrors        // what could not be read
	Errors catalog.FieldErrors        // what View shows
	inYAML bool
	values url.Values
	rows   map[string]int // of each list among the values, by name
	yaml   string
	base   string // YAML input, for what the form has no inputs for
	asks   bool   // whether the form can be shown without the YAML's comments is asked
	focus  string // name of the added row, or of the list from which one was removed
}

// Decode reads a posted form.
func Decode(kind catalog.Kind, values url.Values, facts Facts) Draft {
	s := subject{kind, facts}
	var d Draft
	if values.Has("yaml") {
		d = s.fromYAML(values.Get("yaml"))
	} else {
		d = s.fromForm(values)
	}
	d.Unread = append(d.Unread, d.outgrown()...)
	return d
}

// FromObject returns the draft of an existing object, as form fields if they can show it.
func FromObject(kind catalog.Kind, obj *unstructured.Unstructured, facts Facts) (Draft, error) {
	text, err := catalog.ToYAML(obj)
	if err != nil {
		return Draft{}, err
	}
	d := subject{kind, facts}.fromYAML(string(text)).ToForm()
	d.Errors = d.Unread
	return d, nil
}

// Like returns the draft of a copy of obj, without its name, the unique names of its resources, and temporary
// annotations.
func Like(kind catalog.Kind, obj *unstructured.Unstructured, facts Facts) (Draft, error) {
	obj = WithoutOrders(obj)
	obj.SetName("")
	for _, name := range kind.Names {
		unstructured.RemoveNestedField(obj.Object, "spec", name)
	}
	d, err := FromObject(kind, obj, facts)
	d.Errors = nil
	return d, err
}

// WithoutOrders returns a copy of obj without temporary annotations, including consent to data loss: they do not apply
// to another object.
func WithoutOrders(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	notes := obj.GetAnnotations()
	maps.DeleteFunc(notes, func(key, _ string) bool { return strings.HasPrefix(key, "portico.dev/") })
	obj.SetAnnotations(notes)
	return obj
}

func (s subject) fromForm(values url.Values) Draft {
	d := Draft{subject: s, base: strings.ReplaceAll(values.Get("base"), "\r\n", "\n")}
	d.values, d.rows = catalog.Dense(values)
	var base *unstructured.Unstructured
	var damaged error
	if d.base != "" {
		base, damaged = Parse(s.kind, d.base)
	}
	s.kind.Split(d.values)
	d.values.Set("metadata.namespace", s.Namespace)
	d.Object, d.Unread = s.kind.Decode(s.withPrefix(d.values, base), base)
	if damaged != nil {
		d.Unread = append(d.Unread, catalog.FieldError{Message: "what the form does not show could not be read: " +
			damaged.Error()})
	}
	if s.Edit != nil {
		d.Object.SetName(s.Edit.Name)
	}
	if d.Object.GetName() == "" {
		d.Object.SetName(s.nameFor(d.Object))
	}
	if d.Object.GetName() == "" {
		d.Unread = append(catalog.FieldErrors{{Field: NameField, Message: catalog.Required}}, d.Unread...)
	}
	return d
}

func (s subject) fromYAML(text string) Draft {
	text = strings.ReplaceAll(text, "\r\n", "\n") // as browsers send it
	d := Draft{subject: s, inYAML: true, yaml: text}
	obj, err := Parse(s.kind, text)
	switch {
	case err != nil:
		d.Unread = catalog.FieldErrors{{Message: err.Error()}}
	case obj.GetNamespace() != "" && obj.GetNamespace() != s.Namespace:
		d.Unread = catalog.FieldErrors{{
			Field: "metadata.namespace", Value: obj.GetNamespace(),
			Message: "must be " + s.Namespace + ", the team that is chosen on top of the page, or left out",
		}}
	case s.Edit != nil && obj.GetName() != s.Edit.Name:
		d.Unread = catalog.FieldErrors{{
			Field: NameField, Value: obj.GetName(),
			Message: "must stay " + s.Edit.Name + ": a name cannot be changed; request another one like this under " +
				"the new name",
		}}
	case obj.GetName() == "":
		d.Unread = catalog.FieldErrors{{Field: NameField, Message: catalog.Required}}
	}
	if obj == nil {
		obj = &unstructured.Unstructured{Object: map[string]any{}}
		obj.SetGroupVersionKind(s.kind.GVK())
	}
	obj.SetNamespace(s.Namespace)
	if s.Edit != nil {
		obj.SetName(s.Edit.Name)
	}
	d.Object = obj
	return d
}

// ToForm shows YAML input as form fields; YAML that cannot be parsed, or that a form cannot show, stays.
func (d Draft) ToForm() Draft {
	if !d.inYAML || len(d.Unread) > 0 && d.Unread[0].Field != NameField {
		return d
	}
	values := d.kind.Encode(d.Object)
	inRows(d.kind.Fields(), values)
	d.withoutPrefix(values)
	values.Set("base", d.yaml)
	out := d.fromForm(values)
	if err := out.TooManyRows(); err != nil {
		d.Unread = catalog.FieldErrors{{Message: err.Error()}}
		return d
	}
	out.Unread = nil
	return out
}

// Commented reports whether there are comments in the YAML, which the form does not keep.
func (d Draft) Commented() bool { return d.inYAML && catalog.HasComments([]byte(d.yaml)) }

// Asking returns the draft with the question whether to continue to the form without its comments.
func (d Draft) Asking() Draft {
	d.asks = true
	return d
}

// inRows gives each value of a list its own row if lines cannot show them: lines lose line breaks within a value,
// surrounding space, and empty values.
func inRows(fields []catalog.Field, values url.Values) {
	for name, all := range maps.Clone(values) {
		f, ok := fieldAt(fields, name)
		if !ok || !f.ListOfScalars() || len(f.Items.Options) > 0 || !slices.ContainsFunc(all, func(v string) bool {
			return v == "" || v != strings.TrimSpace(v) || strings.ContainsAny(v, "\r\n")
		}) {
			continue
		}
		values.Set(name, "")
		for i, v := range all {
			values.Set(catalog.Index(name, i), v)
		}
	}
}

// WithoutRow returns the draft without one row of a list. It also removes the row of the base object, because rows
// correspond by index.
func (d Draft) WithoutRow(row string) Draft {
	values := maps.Clone(d.values)
	if d.base != "" {
		marked := maps.Clone(values)
		marked.Set(row+"._remove", "on")
		values.Set("base", string(catalog.ValueYAML(d.fromForm(marked).Object.Object)))
	}
	removeRow(values, row)
	out := d.fromForm(values)
	out.focus = row[:max(strings.LastIndexByte(row, '['), 0)]
	return out
}

// ToYAML shows the form's object as YAML; a form with unreadable values stays, because they would be lost.
func (d Draft) ToYAML() Draft {
	if d.inYAML || slices.ContainsFunc(d.Unread, func(e catalog.FieldError) bool { return e.Field != NameField }) {
		return d
	}
	text, err := catalog.ToYAML(d.Object)
	if err != nil {
		return d
	}
	return Draft{subject: d.subject, inYAML: true, yaml: string(text), Object: d.Object}
}
