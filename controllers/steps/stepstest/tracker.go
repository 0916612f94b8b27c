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

// tracker stores objects. It applies exactly the requested fields, whereas the fake client converts them to a typed
// object, which also declares every field without omitempty, and the status.
type tracker struct {
	clientgo.ObjectTracker
	asked *unstructured.Unstructured // what is being applied
}

func newTracker(of *runtime.Scheme) *tracker {
	return &tracker{ObjectTracker: clientgo.NewFieldManagedObjectTracker(
		of, serializer.NewCodecFactory(of).UniversalDecoder(), converter{})}
}

// Apply implements clientgo.ObjectTracker.
func (t *tracker) Apply(gvr schema.GroupVersionResource, config runtime.Object, ns string,
	opts ...metav1.PatchOptions,
) error {
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

// converter has the schemas of client-go's types, and deduces those of others.
type converter struct{}

// builtIn is parsed once, because that takes long.
var builtIn = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
})

func (converter) ObjectToTyped(obj runtime.Object, o ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if value, err := builtIn().ObjectToTyped(obj, o...); err == nil {
		return value, nil
	}
	return managedfields.NewDeducedTypeConverter().ObjectToTyped(obj, o...)
}

func (converter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return managedfields.NewDeducedTypeConverter().TypedToObject(value)
}
