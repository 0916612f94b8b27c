package cluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/auth"
)

// Annotate sets annotations of one object as the caller, who needs the right to patch it; nil removes one. Nothing else
// of the object is sent, so that what others changed in the meantime stays. The result is the object after that.
func (c *Cluster) Annotate(ctx context.Context, id auth.Identity, ref Ref, annotations map[string]*string) (*unstructured.Unstructured, error) {
	for key := range annotations {
		if key == requestedBy || len(validation.IsQualifiedName(key)) > 0 {
			return nil, fmt.Errorf("annotation %q: it is not one to be set", key)
		}
	}
	got, err := c.Patch(ctx, id, ref, map[string]any{"metadata": map[string]any{"annotations": annotations}}, "", false)
	return got.Object, err
}

// Scale sets how many Pods the object wants, as the caller, who needs the right to patch it. Nothing else is sent.
func (c *Cluster) Scale(ctx context.Context, id auth.Identity, ref Ref, replicas int64) (*unstructured.Unstructured, error) {
	got, err := c.Patch(ctx, id, ref, map[string]any{"spec": map[string]any{"replicas": replicas}}, "", false)
	return got.Object, err
}
