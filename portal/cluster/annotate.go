package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
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
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return nil, fmt.Errorf("writing the patch of annotations: %w", err)
	}
	got, err := c.write(ctx, id, change{verb: "patch", ref: ref}, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		return r.Patch(ctx, ref.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	})
	return got.Object, err
}
