package kubetest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/catalog"
)

// Live is an API server that has the objects of a cache, possibly in later generations. It gets single objects.
type Live struct {
	dynamic.NamespaceableResourceInterface
	Kinds  catalog.Catalog
	Cache  client.Reader
	Behind int64 // number of generations by which the cache lags

	kind      catalog.Kind
	namespace string
}

// Resource implements dynamic.Interface.
func (l *Live) Resource(of schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	out := *l
	out.kind, _ = l.Kinds.ByPlural(of.Resource)
	return &out
}

// Namespace implements dynamic.NamespaceableResourceInterface.
func (l *Live) Namespace(namespace string) dynamic.ResourceInterface {
	out := *l
	out.namespace = namespace
	return &out
}

// Get implements dynamic.ResourceInterface.
func (l *Live) Get(ctx context.Context, name string, _ metav1.GetOptions, _ ...string) (
	*unstructured.Unstructured, error,
) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(l.kind.GVK())
	if err := l.Cache.Get(ctx, client.ObjectKey{Namespace: l.namespace, Name: name}, obj); err != nil {
		return nil, err
	}
	obj = obj.DeepCopy()
	obj.SetGeneration(obj.GetGeneration() + l.Behind)
	return obj, nil
}
