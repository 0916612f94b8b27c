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
	return c.patch(ctx, id, ref, map[string]any{"metadata": map[string]any{"annotations": annotations}})
}

// Scale sets how many Pods the object wants, as the caller, who needs the right to patch it. Nothing else is sent.
func (c *Cluster) Scale(ctx context.Context, id auth.Identity, ref Ref, replicas int64) (*unstructured.Unstructured, error) {
	return c.patch(ctx, id, ref, map[string]any{"spec": map[string]any{"replicas": replicas}})
}

// patch merges what is given into one object, as the caller.
func (c *Cluster) patch(ctx context.Context, id auth.Identity, ref Ref, with map[string]any) (*unstructured.Unstructured, error) {
	body, err := json.Marshal(with)
	if err != nil {
		return nil, fmt.Errorf("writing the patch: %w", err)
	}
	got, err := c.write(ctx, id, change{verb: "patch", ref: ref}, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		return r.Patch(ctx, ref.Name, types.MergePatchType, body, metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
	})
	return got.Object, err
}
