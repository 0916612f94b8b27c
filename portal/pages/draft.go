package pages

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// nameField is the input of an object's name.
const nameField = "metadata.name"

// draft is what the user has entered so far, as form or as YAML. values and yaml are exactly as entered, so that
// nothing is lost; object is what could be read of them.
type draft struct {
	asking asking
	inYAML bool
	values url.Values
	rows   map[string]int // of each list among the values, by name
	yaml   string
	base   string // YAML of what came in as YAML, for what the form has no inputs for
	object *unstructured.Unstructured
	unread catalog.FieldErrors // what could not be read
	errs   catalog.FieldErrors // what to show
	focus  string              // name of the row that was added, or of the list that one was removed from
}

// read takes a posted form.
func (a asking) read(form url.Values) draft {
	var d draft
	if form.Has("yaml") {
		d = a.fromYAML(form.Get("yaml"))
	} else {
		d = a.fromForm(form)
	}
	d.unread = append(d.unread, d.outgrown()...)
	return d
}

func (a asking) fromForm(values url.Values) draft {
	d := draft{asking: a, base: strings.ReplaceAll(values.Get("base"), "\r\n", "\n")}
	d.values, d.rows = catalog.Dense(values)
	var base *unstructured.Unstructured
	var damaged error
	if d.base != "" {
		base, damaged = a.parse(d.base)
	}
	a.kind.Split(d.values)
	d.values.Set("metadata.namespace", a.space.namespace)
	d.object, d.unread = a.kind.Decode(d.values, base)
	if damaged != nil {
		d.unread = append(d.unread, catalog.FieldError{Message: "what the form does not show could not be read: " + damaged.Error()})
	}
	if a.edit != nil {
		d.object.SetName(a.edit.ref.Name)
	}
	if d.object.GetName() == "" {
		d.unread = append(catalog.FieldErrors{{Field: nameField, Message: catalog.Required}}, d.unread...)
	}
	return d
}

func (a asking) fromYAML(text string) draft {
	text = strings.ReplaceAll(text, "\r\n", "\n") // as browsers send it
	d := draft{asking: a, inYAML: true, yaml: text}
	obj, err := a.parse(text)
	switch {
	case err != nil:
		d.unread = catalog.FieldErrors{{Message: err.Error()}}
	case obj.GetNamespace() != "" && obj.GetNamespace() != a.space.namespace:
		d.unread = catalog.FieldErrors{{
			Field: "metadata.namespace", Value: obj.GetNamespace(),
			Message: "must be " + a.space.namespace + ", the team that is chosen on top of the page, or left out",
		}}
	case a.edit != nil && obj.GetName() != a.edit.ref.Name:
		d.unread = catalog.FieldErrors{{
			Field: nameField, Value: obj.GetName(),
			Message: "must stay " + a.edit.ref.Name + ": a name cannot be changed; request another one like this under the new name",
		}}
	case obj.GetName() == "":
		d.unread = catalog.FieldErrors{{Field: nameField, Message: catalog.Required}}
	}
	if obj == nil {
		obj = &unstructured.Unstructured{Object: map[string]any{}}
		obj.SetGroupVersionKind(a.kind.GVK())
	}
	obj.SetNamespace(a.space.namespace)
	if a.edit != nil {
		obj.SetName(a.edit.ref.Name)
	}
	d.object = obj
	return d
}

// toForm shows what came as YAML in the form; YAML that cannot be read, or that a form cannot show, stays as it is.
func (d draft) toForm() draft {
	if !d.inYAML || len(d.unread) > 0 && d.unread[0].Field != nameField {
		return d
	}
	values := d.asking.kind.Encode(d.object)
	inRows(d.asking.kind.Fields, values)
	values.Set("base", d.yaml)
	out := d.asking.fromForm(values)
	if err := out.tooManyRows(); err != nil {
		d.unread = catalog.FieldErrors{{Message: err.Error()}}
		return d
	}
	out.unread = nil
	return out
}

// inRows gives each value of a list a row of its own where lines cannot show them: those lose breaks within a value, the
// space around it, and empty ones.
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

// withoutRow is the draft without one row of a list. What it began with goes without it, too: rows stand for those of the
// same number there.
func (d draft) withoutRow(row string) draft {
	values := maps.Clone(d.values)
	if d.base != "" {
		marked := maps.Clone(values)
		marked.Set(row+"._remove", "on")
		values.Set("base", string(catalog.ValueYAML(d.asking.fromForm(marked).object.Object)))
	}
	removeRow(values, row)
	out := d.asking.fromForm(values)
	out.focus = row[:max(strings.LastIndexByte(row, '['), 0)]
	return out
}

// toYAML shows the form's object as YAML; a form with unreadable values stays, or they would be lost.
func (d draft) toYAML() draft {
	if d.inYAML || slices.ContainsFunc(d.unread, func(e catalog.FieldError) bool { return e.Field != nameField }) {
		return d
	}
	text, err := catalog.ToYAML(d.object)
	if err != nil {
		return d
	}
	return draft{asking: d.asking, inYAML: true, yaml: string(text), object: d.object}
}

// complete fills in the page: fields or YAML, errors beside them, and the same request in other words.
func (a asking) complete(view views.Form, d draft, origin string) (views.Form, error) {
	text, err := catalog.ToYAML(d.object)
	if err != nil {
		return view, err
	}
	view.YAMLTab, view.YAML, view.Base = d.inYAML, string(text), d.base
	if view.Commands, err = a.commands(string(text), d, origin); err != nil {
		return view, err
	}
	if a.edit != nil {
		began, err := catalog.ToYAML(a.edit.began.Object)
		if err != nil {
			return view, err
		}
		view.ETag, view.Began = a.edit.began.ETag, string(began)
	}
	if d.inYAML {
		view.YAML = d.yaml
		view.Problems = problems(d.errs, nil)
		return view, nil
	}
	view.Names = a.nameLists()
	b := builder{asking: a, values: d.values, rows: d.rows}
	view.Basic, view.Advanced = b.form()
	inputs := names(view.Basic, view.Advanced)
	byInput, rest := b.atChoices(d.errs, inputs).Place(inputs)
	askFor(byInput, view.Basic, view.Advanced)
	labels := map[string]string{}
	mark(view.Basic, byInput, labels, "")
	view.Unfold = mark(view.Advanced, byInput, labels, "")
	focus(view.Basic, d.focus)
	view.Unfold = focus(view.Advanced, d.focus) || view.Unfold
	for _, name := range inputs {
		for _, m := range byInput[name] {
			view.Problems = append(view.Problems, views.Problem{Field: name, Label: labels[name], Text: m})
		}
	}
	for _, m := range rest {
		view.Problems = append(view.Problems, views.Problem{Text: prose.Sentence(m)})
	}
	return view, nil
}

// problems are errors as a list, each with its path.
func problems(errs catalog.FieldErrors, out []views.Problem) []views.Problem {
	for _, e := range errs {
		p := views.Problem{Text: e.Message}
		if e.Field != "" {
			p.Text = e.Field + ": " + e.Message
		}
		out = append(out, p)
	}
	return out
}
