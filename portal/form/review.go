package form

import (
	"bytes"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// fixed returns why a field of the edited object cannot change, and its value.
func (b builder) fixed(f catalog.Field, path string) (why, value string) {
	if b.Edit == nil || !f.Fixed.Holds(b.Edit.Made) || strings.Contains(path, "[") {
		return "", ""
	}
	held, _, _ := unstructured.NestedFieldNoCopy(b.Edit.Object.Object, strings.Split(path, ".")...)
	if ref, ok := held.(map[string]any); ok && f.IsRef() {
		held = ref["name"]
	}
	if held == nil && !f.Fixed.Unset {
		return "", "" // it can still be set, once
	}
	return humanize.Sentence("cannot be changed: " + f.Fixed.Why), valueText(held)
}

// valueText returns a value for display: YAML, "not set" for none.
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

// Stored is the cluster's result of a draft's dry run.
type Stored struct {
	Object *unstructured.Unstructured // with defaults
	Was    *unstructured.Unstructured // before an edit
	// HoldUps are why the object cannot become Ready at present.
	HoldUps  []string
	Warnings []string
}

// Review compares what would be stored with the draft or, for an edit, with the current object.
func (d Draft) Review(form views.Form, stored Stored) (views.Review, error) {
	view := views.Review{Form: form, Name: d.Object.GetName(), HoldUps: stored.HoldUps, Warnings: stored.Warnings}
	if d.Edit != nil {
		return d.change(view, stored)
	}
	says, told := d.sentence(stored.Object)
	view.Says, view.Settings = says, d.settings(stored.Object, told)
	var err error
	view.Lines, view.Added, err = compareObjects(d.Object, stored.Object)
	if d.kind.ID() == v1alpha1.KindTeam && err == nil {
		view.Effects, err = d.teamEffects(stored.Object)
	}
	view.Effects = append(view.Effects, d.accessEffects(nil, stored.Object)...)
	view.Effects = append(view.Effects, senderEffects(nil, stored.Object)...)
	return view, err
}

// change compares what would be stored with the current object.
func (d Draft) change(view views.Review, stored Stored) (views.Review, error) {
	lines, _, err := compareObjects(stored.Was, stored.Object)
	if err != nil {
		return view, err
	}
	view.Lines, view.Nothing = folded(lines), true
	for _, l := range lines {
		view.Nothing = view.Nothing && l.Mark == ""
	}
	view.Settings = d.changed(stored.Was, stored.Object)
	view.Effects = d.effects(stored.Was, stored.Object)
	for _, c := range d.kind.Differences(d.Object, stored.Object, d.Object) {
		if c.Path[0] == "spec" {
			view.Defaults = append(view.Defaults,
				views.Value{Label: labelOf(d.kind, c.Path), Text: valueText(c.Theirs)})
		}
	}
	return view, nil
}

// effects returns the side effects of an object's change that its kind describes.
func (s subject) effects(was, will *unstructured.Unstructured) []views.Effect {
	var changed []string
	for _, c := range s.kind.Differences(was, will, was) {
		if c.Path[0] == "spec" && len(c.Path) > 1 && !slices.Contains(changed, c.Path[1]) {
			changed = append(changed, c.Path[1])
		}
	}
	if was.GetDeletionTimestamp() != nil && len(changed) > 0 {
		return s.deletingEffects(will, changed)
	}
	if s.onlyAccess(was, will) {
		changed = slices.DeleteFunc(changed, func(field string) bool { return field == "bindings" })
	}
	var all []views.Effect
	for _, c := range s.kind.Changes {
		if !slices.ContainsFunc(changed, func(field string) bool { return c.Holds(field, was, will) }) {
			continue
		}
		effect := views.Effect{Icon: "info", Tone: "busy", Text: c.Effect}
		if c.Lower {
			effect.Icon, effect.Tone = "alert", "warn"
		}
		all = append(all, effect)
	}
	all = append(all, s.accessEffects(was, will)...)
	return append(all, senderEffects(was, will)...)
}

// labelOf returns the form's label of a part of the object.
func labelOf(kind catalog.Kind, path []string) string {
	if path[0] == "metadata" {
		return map[string]string{"labels": "Label", "annotations": "Annotation"}[path[1]] + " " +
			strings.Join(path[2:], ".")
	}
	var parts []string
	at, fields := path[0], kind.Fields()
	for _, step := range path[1:] {
		if key, ok := strings.CutPrefix(step, "["); ok {
			at = catalog.Index(at, 0) // any row: they have the same labels
			parts = append(parts, strings.TrimSuffix(key, "]"))
			continue
		}
		at += "." + step
		if f, ok := fieldAt(fields, at); ok {
			step = f.Label
		}
		parts = append(parts, step)
	}
	return strings.Join(parts, ", ")
}
