package stepstest

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	clientgo "k8s.io/client-go/testing"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// tracker stores objects. It applies what was asked for, where the fake client makes a typed object of it: one that
// declares every field that has no omitempty, and the status.
type tracker struct {
	clientgo.ObjectTracker
	asked *unstructured.Unstructured // what is being applied
}

func newTracker(of *runtime.Scheme) *tracker {
	return &tracker{ObjectTracker: clientgo.NewFieldManagedObjectTracker(of, serializer.NewCodecFactory(of).UniversalDecoder(), converter{})}
}

// Apply implements clientgo.ObjectTracker.
func (t *tracker) Apply(gvr schema.GroupVersionResource, config runtime.Object, ns string, opts ...metav1.PatchOptions) error {
	if t.asked != nil {
		given, err := meta.Accessor(config)
		if err != nil {
			return err
		}
		asked := t.asked.DeepCopy()
		asked.SetResourceVersion(given.GetResourceVersion())
		config = asked
	}
	return t.ObjectTracker.Apply(gvr, config, ns, opts...)
}

// converter knows the types of client-go, and guesses the others.
type converter struct{}

// builtIn has a schema that takes long to parse.
var builtIn = sync.OnceValue(func() managedfields.TypeConverter { return applyconfigurations.NewTypeConverter(scheme.Scheme) })

func (converter) ObjectToTyped(obj runtime.Object, o ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if value, err := builtIn().ObjectToTyped(obj, o...); err == nil {
		return value, nil
	}
	return managedfields.NewDeducedTypeConverter().ObjectToTyped(obj, o...)
}

func (converter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return managedfields.NewDeducedTypeConverter().TypedToObject(value)
}
