package stepstest

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/controllers/engine"
)

// editor is the field manager of another client.
const editor = client.FieldOwner("kubectl-edit")

// repairs: every declared field that somebody changes or removes has its value back after one pass.
func repairs[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	w := newWorld(t, c)
	w.converge("creation")
	for _, obj := range w.except(c.Repaired) {
		before := w.read(obj)
		fields, err := declared(before)
		if err != nil || len(fields) == 0 {
			t.Fatalf("the %s: %d declared fields, %v", w.what(obj), len(fields), err)
		}
		for _, f := range fields {
			if !f.isKey() { // a key cannot be changed, only removed
				w.repairsField(before, f, fields)
			}
		}
	}
}

func (w *world[T]) repairsField(before *unstructured.Unstructured, f field, fields []field) {
	w.t.Helper()
	was, ok := f.in(before.Object)
	if !ok {
		return // an empty value, which is not stored
	}
	values := []any{nothing}
	if !f.above(fields) {
		values = append(others(was), nothing)
	}
	if !slices.ContainsFunc(values, func(value any) bool { return w.vandalize(before, f, value) }) {
		w.t.Errorf("nobody can change %s of the %s", f, w.what(before))
	}
	_ = w.pass() // the error shows in what follows
	w.holds(before, f, fields)
}

// vandalize sets the field to value, if the API server accepts that.
func (w *world[T]) vandalize(obj *unstructured.Unstructured, f field, value any) bool {
	is := w.read(obj)
	edited := is.DeepCopy()
	edited.Object = f.change(edited.Object, value).(map[string]any)
	edited.SetManagedFields(nil)
	was := is.DeepCopy()
	was.SetManagedFields(nil)
	if w.Others.Patch(w.t.Context(), edited, client.MergeFrom(was), editor) != nil {
		return false
	}
	now, _ := f.in(w.read(obj).Object)
	before, _ := f.in(is.Object)
	return !reflect.DeepEqual(now, before)
}

// holds reports every declared field that differs from before.
func (w *world[T]) holds(before *unstructured.Unstructured, changed field, fields []field) {
	w.t.Helper()
	now := w.read(before)
	if now == nil {
		w.t.Fatalf("after a change of %s the %s is gone", changed, w.what(before))
	}
	for _, f := range fields {
		was, had := f.in(before.Object)
		is, has := f.in(now.Object)
		if had && (!has || !f.above(fields) && !reflect.DeepEqual(was, is)) {
			w.t.Errorf("after a change of %s, the %s has %s = %v, want %v", changed, w.what(before), f, is, was)
			w.vandalize(before, f, was)
		}
	}
}

func keepsAdditions[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	w := newWorld(t, c)
	w.converge("creation")
	for _, obj := range c.Makes {
		is := w.read(obj)
		edited := is.DeepCopy()
		edited.SetLabels(with(edited.GetLabels(), "team.example.com/owner", "payments"))
		edited.SetAnnotations(with(edited.GetAnnotations(), "team.example.com/note", "hands off"))
		edited.SetFinalizers([]string{"team.example.com/wait"})
		if err := w.Others.Patch(t.Context(), edited, client.MergeFrom(is), editor); err != nil {
			t.Fatal(err)
		}
	}
	edits := maps.Clone(c.Edits)
	if edits == nil {
		edits = map[string]Edit[T]{}
	}
	edits["nothing"] = Edit[T]{Do: func(T) {}}
	for name, edit := range edits {
		if len(edit.Gone) > 0 {
			continue
		}
		w.edit(edit.Do)
		w.converge(name)
		for _, obj := range c.Makes {
			now := w.read(obj)
			if now.GetLabels()["team.example.com/owner"] == "" || now.GetAnnotations()["team.example.com/note"] == "" ||
				len(now.GetFinalizers()) != 1 {
				t.Errorf("%s: the %s lost what others had added: %v", name, w.what(obj), now.Object["metadata"])
			}
		}
	}
}

func with(all map[string]string, name, value string) map[string]string {
	all = maps.Clone(all)
	if all == nil {
		all = map[string]string{}
	}
	all[name] = value
	return all
}
