package stepstest

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// noon is the time at which all tests run.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// world is one cluster that contains the owner.
type world[T engine.Object] struct {
	*Cluster
	t *testing.T
	c Case[T]
}

func newWorld[T engine.Object](t *testing.T, c Case[T]) *world[T] {
	t.Helper()
	w := &world[T]{Cluster: NewCluster(c.Scheme, c.Build), t: t, c: c}
	w.Cached = c.Cached
	if err := w.Others.Create(t.Context(), c.Owner.DeepCopyObject().(T)); err != nil {
		t.Fatal(err)
	}
	return w
}

// now returns the owner in its current state.
func (w *world[T]) now() T {
	w.t.Helper()
	obj := w.c.Owner.DeepCopyObject().(T)
	if err := w.Others.Get(w.t.Context(), client.ObjectKeyFromObject(w.c.Owner), obj); err != nil {
		w.t.Fatal(err)
	}
	return obj
}

// pass reconciles the owner once.
func (w *world[T]) pass() error {
	w.t.Helper()
	return w.passOver(w.now())
}

func (w *world[T]) passOver(obj T) error {
	loop := &engine.Reconciler[T]{
		Kind: w.kind(obj), Client: w.Client(), Events: events.NewFakeRecorder(1000), KindReconciler: w.c.Reconciler(
			w.Cluster),
		Schedule: engine.Schedule{Resync: time.Hour, Now: func() time.Time { return noon }, Jitter: func() float64 { return 0 }},
	}
	_, err := loop.Reconcile(w.t.Context(), obj)
	return err
}

// converge reconciles and settles until the owner is Ready and a pass writes nothing.
func (w *world[T]) converge(what string) {
	w.t.Helper()
	const most = 8
	for range most {
		w.c.Settle(w.t, w.Cluster)
		before := len(w.Writes())
		err := w.pass()
		if err == nil && w.now().Common().Ready && len(w.Writes()) == before {
			return
		}
	}
	w.t.Fatalf("%s: not at rest after %d passes: %+v; last writes %v", what, most, w.now().Common().Conditions,
		w.Writes())
}

// edit changes the owner as its user.
func (w *world[T]) edit(do func(T)) {
	w.t.Helper()
	is := w.now()
	before := is.DeepCopyObject().(T)
	do(is)
	if err := w.Others.Patch(w.t.Context(), is, client.MergeFrom(before), client.FieldOwner("author")); err != nil {
		w.t.Fatal(err)
	}
}

// asWritten copies the spec and annotations of another object to obj.
func asWritten[T engine.Object](obj, of T) {
	obj.SetAnnotations(of.GetAnnotations())
	to, from := reflect.ValueOf(obj).Elem(), reflect.ValueOf(of.DeepCopyObject().(T)).Elem()
	to.FieldByName("Spec").Set(from.FieldByName("Spec"))
}

// read returns the object, nil if it does not exist.
func (w *world[T]) read(obj client.Object) *unstructured.Unstructured {
	w.t.Helper()
	gvk, err := apiutil.GVKForObject(obj, w.c.Scheme)
	if err != nil {
		w.t.Fatal(err)
	}
	is := &unstructured.Unstructured{}
	is.SetGroupVersionKind(gvk)
	err = w.Others.Get(w.t.Context(), client.ObjectKeyFromObject(obj), is)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return is
}

func (w *world[T]) what(obj client.Object) string { return w.kind(obj) + " " + obj.GetName() }

// owned returns the owner's objects of the types of Makes, in a form that can be compared.
func (w *world[T]) owned() map[string]map[string]any {
	w.t.Helper()
	all := map[string]map[string]any{}
	for _, obj := range w.c.Makes {
		gvk, err := apiutil.GVKForObject(obj, w.c.Scheme)
		if err != nil {
			w.t.Fatal(err)
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err := w.Others.List(w.t.Context(), list); err != nil {
			w.t.Fatal(err)
		}
		for i := range list.Items {
			if metav1.IsControlledBy(&list.Items[i], w.c.Owner) {
				all[gvk.Kind+" "+list.Items[i].GetName()] = steady(&list.Items[i])
			}
		}
	}
	return all
}

// steady returns the object without fields that differ each time it is created.
func steady(obj *unstructured.Unstructured) map[string]any {
	obj = obj.DeepCopy()
	obj.SetManagedFields(nil)
	obj.SetResourceVersion("")
	obj.SetUID("")
	obj.SetCreationTimestamp(metav1.Time{})
	return obj.Object
}

// picture returns all state that must not depend on the path to it.
func (w *world[T]) picture() map[string]map[string]any {
	w.t.Helper()
	all, owner := w.owned(), w.now()
	slices.SortFunc(owner.Common().Conditions, func(a, b metav1.Condition) int {
		return strings.Compare(a.Type, b.Type)
	})
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(owner)
	if err != nil {
		w.t.Fatal(err)
	}
	all["owner"] = map[string]any{"status": fields["status"], "finalizers": owner.GetFinalizers()}
	return all
}

// same compares the state with an earlier picture.
func (w *world[T]) same(what string, want map[string]map[string]any) {
	w.t.Helper()
	is := w.picture()
	if !slices.Equal(keys(is), keys(want)) {
		w.t.Errorf("%s: there is %v, want %v", what, keys(is), keys(want))
		return
	}
	for name := range want {
		if !reflect.DeepEqual(is[name], want[name]) {
			w.t.Errorf("%s: the %s is\n%v\nwant\n%v", what, name, is[name], want[name])
		}
	}
}

func keys(all map[string]map[string]any) []string { return slices.Sorted(maps.Keys(all)) }

func (w *world[T]) except(gone []client.Object) []client.Object {
	return slices.DeleteFunc(slices.Clone(w.c.Makes), func(obj client.Object) bool {
		return slices.ContainsFunc(gone, func(g client.Object) bool { return w.what(g) == w.what(obj) })
	})
}

// errDead is the error of every write after the operator died in this pass.
var errDead = errors.New("the operator is dead")

// cutAfter runs passes and lets the operator die after its write number at, counted from 0.
func (w *world[T]) cutAfter(at int) {
	w.t.Helper()
	n, dead := 0, false
	w.Before = func(call Call) error {
		if dead && call.Write() {
			return errDead
		}
		return nil
	}
	w.After = func(call Call) error {
		if call.Write() {
			n++
		}
		if dead = n > at; dead {
			return errDead
		}
		return nil
	}
	for range at + 1 {
		_ = w.pass()
		if dead {
			break
		}
		w.c.Settle(w.t, w.Cluster)
	}
	w.Before, w.After = nil, nil
	if !dead {
		w.t.Fatalf("there was no write %d to cut", at)
	}
}

// nothingTwice checks that no object was created twice. It is only valid if nothing was deleted in between.
func (w *world[T]) nothingTwice(cut Call) {
	w.t.Helper()
	seen := map[string]int{}
	for _, call := range w.Writes() {
		if call.Verb == "create" {
			if seen[call.Kind+call.Name]++; seen[call.Kind+call.Name] > 1 {
				w.t.Errorf("cut after %s: %s twice", cut, call)
			}
		}
	}
}

// refused reports whether the owner reports a conflict.
func (w *world[T]) refused() bool {
	ready := meta.FindStatusCondition(w.now().Common().Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Status != metav1.ConditionTrue && (ready.Reason == v1alpha1.ReasonConflict ||
		ready.Reason == v1alpha1.ReasonWaitingForDeletion)
}
