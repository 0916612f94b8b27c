package pages

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// editing is the change of an object that is there: which, and how it was when the user began. Forms carry the latter,
// so that it holds over all the pages that lead to the change.
type editing struct {
	ref   cluster.Ref
	began cluster.Began
}

// editable are the kinds whose objects people edit.
func editable(s space) catalog.Catalog {
	var out catalog.Catalog
	for _, k := range s.shown {
		if k.KeptBy != catalog.KeptByOperator {
			out = append(out, k)
		}
	}
	return out
}

// mayEdit reports whether there is a form in which the caller may change objects like that of l.
func (p *Pages) mayEdit(ctx context.Context, l looking) (bool, error) {
	k := l.ref.Kind
	if _, ok := editable(l.space).ByPlural(k.Plural); !ok || k.Fixed != "" {
		return false, nil
	}
	return p.cluster.Can(ctx, l.id, "update", k, l.space.namespace)
}

// editing is who edits what.
func (p *Pages) editing(r *http.Request) (asking, error) {
	a, err := p.asking(r, editable, "update")
	if err != nil {
		return asking{}, err
	}
	name := chi.URLParam(r, "name")
	a.edit = &editing{ref: cluster.Ref{Kind: a.kind, Namespace: a.space.namespace, Name: name}}
	frame, err := p.frame(r, a.id, a.space, "Edit "+name)
	if err != nil {
		return asking{}, err
	}
	frame.Section = views.Resources
	a.form = views.EditForm(frame, a.kind.Title, a.kind.Plural, name)
	a.form.Icon = a.kind.Icon
	if a.kind.Fixed != "" {
		a.form.Closed = views.Closed{Title: "It cannot be edited", Text: prose.Sentence(a.kind.Fixed)}
	}
	if err := p.addLeaving(r.Context(), &a); err != nil {
		return asking{}, err
	}
	return a, p.addChoices(r.Context(), &a)
}

// editForm shows the form, filled in from the object.
func (p *Pages) editForm(w http.ResponseWriter, r *http.Request) error {
	a, err := p.editing(r)
	if err != nil {
		return err
	}
	obj, err := p.cluster.Get(r.Context(), a.id, a.edit.ref)
	if err != nil {
		return err
	}
	a.edit.began = cluster.Began{ETag: cluster.ETag(obj), Object: obj}
	a.closeIfLarge(obj)
	text, err := catalog.ToYAML(obj)
	if err != nil {
		return err
	}
	d := a.fromYAML(string(text)).toForm()
	d.errs = d.unread
	return p.showForm(w, r, a, d, http.StatusOK)
}

// editPost does what the pressed button says.
func (p *Pages) editPost(w http.ResponseWriter, r *http.Request) error {
	a, err := p.editing(r)
	if err != nil {
		return err
	}
	if err := readForm(w, r); err != nil {
		return err
	}
	if a.edit.began, err = a.begun(r.PostForm.Get("etag"), r.PostForm.Get("began")); err != nil {
		return err
	}
	if last(r.PostForm["do"]) == "merge" {
		return p.merge(w, r, a)
	}
	return p.answer(w, r, a)
}

// begun reads a version of the object that a form carries.
func (a asking) begun(etag, text string) (cluster.Began, error) {
	obj, err := a.parse(strings.ReplaceAll(text, "\r\n", "\n"))
	if err != nil || etag == "" {
		return cluster.Began{}, errors.Join(errForm, err)
	}
	return cluster.Began{ETag: etag, Object: obj}, nil
}

// fixed reports why a field of the object that is edited cannot change, and what it holds.
func (b builder) fixed(f catalog.Field, path string) (why, value string) {
	if b.asking.edit == nil || f.Fixed.Why == "" || strings.Contains(path, "[") {
		return "", ""
	}
	held, _, _ := unstructured.NestedFieldNoCopy(b.asking.edit.began.Object.Object, strings.Split(path, ".")...)
	if ref, ok := held.(map[string]any); ok && f.IsRef() {
		held = ref["name"]
	}
	if held == nil && !f.Fixed.Unset {
		return "", "" // it can still be set, once
	}
	return prose.Sentence("cannot be changed: " + f.Fixed.Why), valueText(held)
}

// valueText is a value as people read it: YAML, "not set" for none.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case string:
		if v == "" {
			return "empty"
		}
		return v
	}
	return string(bytes.TrimSpace(catalog.ValueYAML(v)))
}

// change compares what would be stored with what there is.
func (a asking) change(view views.Review, d draft, result cluster.Result) (views.Review, error) {
	lines, _, err := compareObjects(result.Was, result.Object)
	if err != nil {
		return view, err
	}
	view.Lines, view.Nothing = folded(lines), true
	for _, l := range lines {
		view.Nothing = view.Nothing && l.Mark == ""
	}
	view.Effects = a.effects(result.Was, result.Object)
	for _, c := range a.kind.Differences(d.object, result.Object, d.object) {
		if c.Path[0] == "spec" {
			view.Defaults = append(view.Defaults, views.Value{Label: a.labelOf(c.Path), Text: valueText(c.Theirs)})
		}
	}
	return view, nil
}

// effects are what the change of an object does besides, as far as its kind tells.
func (a asking) effects(was, will *unstructured.Unstructured) []views.Effect {
	var changed []string
	for _, c := range a.kind.Differences(was, will, was) {
		if c.Path[0] == "spec" && len(c.Path) > 1 && !slices.Contains(changed, c.Path[1]) {
			changed = append(changed, c.Path[1])
		}
	}
	if was.GetDeletionTimestamp() != nil && len(changed) > 0 {
		return a.leaving(will, changed)
	}
	var all []views.Effect
	for _, c := range a.kind.Changes {
		if !slices.ContainsFunc(changed, func(field string) bool { return c.Holds(field, was, will) }) {
			continue
		}
		effect := views.Effect{Icon: "info", Tone: "busy", Text: c.Effect}
		if c.Lower {
			effect.Icon, effect.Tone = "alert", "warn"
		}
		all = append(all, effect)
	}
	return all
}

// labelOf is what the form calls a part of the object.
func (a asking) labelOf(path []string) string {
	if path[0] == "metadata" {
		return map[string]string{"labels": "Label", "annotations": "Annotation"}[path[1]] + " " + strings.Join(path[2:], ".")
	}
	var parts []string
	at := path[0]
	for _, step := range path[1:] {
		if key, ok := strings.CutPrefix(step, "["); ok {
			at = catalog.Index(at, 0) // of whichever: labels are those of all rows
			parts = append(parts, strings.TrimSuffix(key, "]"))
			continue
		}
		at += "." + step
		if f, ok := fieldAt(a.kind.Fields, at); ok {
			step = f.Label
		}
		parts = append(parts, step)
	}
	return strings.Join(parts, ", ")
}
