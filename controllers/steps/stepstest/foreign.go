package stepstest

import (
	"context"
	"errors"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readErrors are errors of a read that say nothing about whether the object exists.
var readErrors = []error{
	apierrors.NewInternalError(errors.New("etcd")),
	apierrors.NewForbidden(schema.GroupResource{}, "x", errors.New("no")),
	apierrors.NewTimeoutError("late", 1),
	context.DeadlineExceeded,
}

// failReads fails every read of a kind for one pass, then only the uncached reads, then only the cached ones.
func (w *world[T]) failReads(kind string, cause error) {
	w.t.Helper()
	for _, which := range []func(Call) bool{
		func(Call) bool { return true },
		func(c Call) bool { return c.Live },
		func(c Call) bool { return !c.Live },
	} {
		failed := false
		w.Forget()
		w.Before = func(call Call) error {
			if call.Kind == kind && !call.Write() && which(call) {
				failed = true
				return cause
			}
			return nil
		}
		err := w.pass()
		w.Before = nil
		if failed && err == nil {
			w.t.Errorf("the pass took %v for an answer of %s", cause, kind)
		}
		for _, call := range w.Writes() {
			if failed && call.Kind == kind {
				w.t.Errorf("after %v there was %s", cause, call)
			}
		}
	}
}

// disguises change one of Portico's objects into one that is not.
var disguises = map[string]func(owner client.Object, obj *unstructured.Unstructured){
	"of nobody": func(_ client.Object, obj *unstructured.Unstructured) { obj.SetOwnerReferences(nil) },
	"of nobody, without any mark": func(_ client.Object, obj *unstructured.Unstructured) {
		obj.SetOwnerReferences(nil)
		obj.SetLabels(nil)
		obj.SetAnnotations(nil)
	},
	"of another kind": func(_ client.Object, obj *unstructured.Unstructured) {
		obj.SetOwnerReferences([]metav1.OwnerReference{
			{APIVersion: "apps.example.com/v1", Kind: "Other", Name: "x", UID: "other", Controller: new(true)},
		})
	},
	"of ours, but not as its controller": func(_ client.Object, obj *unstructured.Unstructured) {
		refs := obj.GetOwnerReferences()
		refs[0].Controller = new(false)
		obj.SetOwnerReferences(refs)
	},
	"of an earlier owner of the name": func(_ client.Object, obj *unstructured.Unstructured) {
		refs := obj.GetOwnerReferences()
		refs[0].UID = "another-life"
		obj.SetOwnerReferences(refs)
	},
}

// foreign creates an object like the model, owned by somebody else and with a marker.
func (w *world[T]) foreign(model *unstructured.Unstructured,
	disguise func(client.Object, *unstructured.Unstructured),
) *unstructured.Unstructured {
	w.t.Helper()
	is := model.DeepCopy()
	disguise(w.c.Owner, is)
	is.SetUID("")
	is.SetResourceVersion("")
	is.SetManagedFields(nil)
	is.SetAnnotations(with(is.GetAnnotations(), "team.example.com/mine", "yes"))
	if err := w.Create(w.t.Context(), is); err != nil {
		w.t.Fatal(err)
	}
	return w.read(is)
}

// untouched checks that the whole object, including its version, is unchanged.
func (w *world[T]) untouched(name string, foreign *unstructured.Unstructured) {
	w.t.Helper()
	if is := w.read(foreign); is == nil || !reflect.DeepEqual(is.Object, foreign.Object) {
		w.t.Errorf("the %s, %s, was touched:\n%v\nwas\n%v", w.what(foreign), name, is, foreign)
	}
}
