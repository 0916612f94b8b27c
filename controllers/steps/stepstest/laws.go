package stepstest

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/controllers/engine"
)

// Case is the work on one object, for tests on fake clusters.
type Case[T engine.Object] struct {
	Scheme *runtime.Scheme
	// Build adds what the work needs to the fake client, such as indexes; nil: nothing.
	Build func(*fake.ClientBuilder)
	// Cached reports whether the operator's cache holds the object; nil: it holds every object.
	Cached func(client.Object) bool
	// Owner is the object as a user wrote it, with a UID.
	Owner T
	// Reconciler returns a reconciler for the cluster; it is called for every pass, as after a restart.
	Reconciler func(*Cluster) engine.KindReconciler[T]
	// Settle does the work of the cluster's own controllers until they have nothing left to do.
	Settle func(*testing.T, *Cluster)
	// Makes are all the objects that the unedited owner creates, with type and name only.
	Makes []client.Object
	// Repaired are those of Makes whose fields are tested one by one in another case, since that takes long.
	Repaired []client.Object
	// Edits are changes of the owner by name.
	Edits map[string]Edit[T]
}

// Edit is a change of the owner's spec.
type Edit[T engine.Object] struct {
	Do func(T)
	// Gone are those of Makes that must not exist after the edit.
	Gone []client.Object
}

// Laws checks the guarantees that hold for any kind whose work is on Kubernetes objects.
func Laws[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	for name, law := range map[string]func(*testing.T, Case[T]){
		"the first pass makes everything":          makesEverything[T],
		"what is in order is not written":          isQuiet[T],
		"what is deleted comes back":               comesBack[T],
		"what others change is repaired":           repairs[T],
		"what others add stays":                    keepsAdditions[T],
		"an edit and back ends as before":          goesBack[T],
		"any write may be the last":                survivesCuts[T],
		"an error is never absence":                errorsAreNotAbsence[T],
		"what is not ours is left alone":           leavesForeign[T],
		"what is not ours does not go":             leavesForeignGone[T],
		"an old picture of the owner does nothing": isNeverStale[T],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			law(t, c)
		})
	}
}

func makesEverything[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	w := newWorld(t, c)
	_ = w.pass()
	for _, obj := range c.Makes {
		if w.read(obj) == nil {
			t.Errorf("the first pass made no %s", w.what(obj))
		}
	}
	w.converge("creation")
	if made, want := len(w.owned()), len(c.Makes); made != want {
		t.Errorf("there are %d objects, want the %d of Makes: %v", made, want, keys(w.owned()))
	}
}

func isQuiet[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	w := newWorld(t, c)
	w.converge("creation")
	w.Forget()
	for range 2 {
		if _ = w.pass(); len(w.Writes()) > 0 {
			t.Fatalf("a pass over what is in order wrote: %v", w.Writes())
		}
	}
}

func comesBack[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	w := newWorld(t, c)
	w.converge("creation")
	want := w.picture()
	for _, obj := range c.Makes {
		old := w.read(obj)
		if err := w.Others.Delete(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		w.converge("the deletion of the " + w.what(obj))
		if is := w.read(obj); is == nil || is.GetUID() == old.GetUID() {
			t.Errorf("the %s did not come back", w.what(obj))
		}
	}
	w.same("after deletions", want)
}

// goesBack: an edit from A to B and back to A restores A, and an edit from A to B leaves only what B asks for.
func goesBack[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	for name, edit := range c.Edits {
		w := newWorld(t, c)
		w.converge("creation")
		want := w.picture()
		w.edit(edit.Do)
		w.converge(name)
		for _, obj := range edit.Gone {
			if w.read(obj) != nil {
				t.Errorf("%s: the %s is still there", name, w.what(obj))
			}
		}
		for _, obj := range w.except(edit.Gone) {
			if w.read(obj) == nil {
				t.Errorf("%s: the %s is gone", name, w.what(obj))
			}
		}
		w.edit(func(is T) { asWritten(is, c.Owner) })
		w.converge(name + " and back")
		w.same(name+" and back", want)
	}
}

// survivesCuts: the operator dies after each of its writes, of the creation and of every edit. Dying just before the
// next write is the same case, since a pass leaves nothing but its writes.
func survivesCuts[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	edits := map[string]func(T){"creation": nil}
	for name, edit := range c.Edits {
		edits[name] = edit.Do
	}
	for name, edit := range edits {
		start := func() *world[T] {
			w := newWorld(t, c)
			if edit != nil {
				w.converge("creation")
				w.edit(edit)
			}
			w.Forget()
			return w
		}
		whole := start()
		whole.converge(name)
		writes, want := whole.Writes(), whole.picture()
		for at := range writes {
			w := start()
			w.cutAfter(at)
			w.converge(name)
			w.same(name+", cut after "+writes[at].String(), want)
			w.nothingTwice(writes[at])
		}
	}
}

func errorsAreNotAbsence[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	for _, fresh := range []bool{true, false} {
		w := newWorld(t, c)
		if !fresh {
			w.converge("creation")
		}
		w.Forget()
		for _, obj := range c.Makes {
			for _, cause := range readErrors {
				w.failReads(w.kind(obj), cause)
			}
		}
		w.converge("the end of all errors")
	}
}

// leavesForeign: an object with a name that Portico would use, created by somebody else, is not changed.
func leavesForeign[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	elsewhere := newWorld(t, c)
	elsewhere.converge("creation elsewhere")
	for _, obj := range c.Makes {
		for name, disguise := range disguises {
			w := newWorld(t, c)
			foreign := w.foreign(elsewhere.read(obj), disguise)
			for range 2 {
				_ = w.pass()
			}
			w.untouched(name, foreign)
			if !w.refused() {
				t.Errorf("beside a %s, %s, the owner is %+v", w.what(obj), name, w.now().Common().Conditions)
			}
		}
	}
}

func leavesForeignGone[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	elsewhere := newWorld(t, c)
	elsewhere.converge("creation elsewhere")
	for what, edit := range c.Edits {
		for _, obj := range edit.Gone {
			for name, disguise := range disguises {
				w := newWorld(t, c)
				w.edit(edit.Do)
				foreign := w.foreign(elsewhere.read(obj), disguise)
				w.converge(what)
				w.untouched(name, foreign)
			}
		}
	}
}

func isNeverStale[T engine.Object](t *testing.T, c Case[T]) {
	t.Helper()
	for _, obj := range c.Makes {
		w := newWorld(t, c)
		w.converge("creation")
		old := w.now()
		w.edit(func(is T) { is.SetLabels(map[string]string{"newer": "yes"}) })
		if err := w.Others.Delete(t.Context(), w.read(obj)); err != nil {
			t.Fatal(err)
		}
		w.Forget()
		if _ = w.passOver(old); len(w.Writes()) > 0 {
			t.Errorf("for an old picture of the owner there was %v", w.Writes())
		}
		if _ = w.pass(); len(w.Writes()) == 0 {
			t.Errorf("and for the new one nothing was done about the %s", w.what(obj))
		}
	}
}
