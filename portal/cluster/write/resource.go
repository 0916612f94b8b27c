package write

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// resource is the part of a dynamic client that writes need.
type resource interface {
	Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (
		*unstructured.Unstructured, error)
	Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions, subresources ...string) (
		*unstructured.Unstructured, error)
	Update(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions, subresources ...string) (
		*unstructured.Unstructured, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, options metav1.PatchOptions,
		subresources ...string) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions, subresources ...string) error
}

// acting is a client for one object that writes as a caller. It reads as the rest of the portal does, with the portal's
// own credentials and after an access review: no admission policy sees reads, so they need no impersonation.
type acting struct {
	dynamic.ResourceInterface
	read func(ctx context.Context) (*unstructured.Unstructured, error)
}

// Get returns the object.
func (a acting) Get(ctx context.Context, _ string, _ metav1.GetOptions, _ ...string) (
	*unstructured.Unstructured, error,
) {
	return a.read(ctx)
}
