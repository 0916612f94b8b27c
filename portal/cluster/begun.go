package cluster

import (
	"cmp"
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// Began is the version of an object that somebody began to edit.
type Began struct {
	ETag   string
	Object *unstructured.Unstructured // as it was then
}

// Edit gives the object the spec of obj, as the caller, and what obj changed of the labels and annotations that there
// were: those that others set in between stay. A *ChangedError says that the spec is
// another one by now, or that others gave the same label or annotation another value.
func (c *Cluster) Edit(ctx context.Context, id auth.Identity, k catalog.Kind, began Began, obj *unstructured.Unstructured, dryRun bool) (Result, error) {
	ref := Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	var was *unstructured.Unstructured
	got, err := c.write(ctx, id, change{"update", ref, dryRun}, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		return edit(ctx, r, ref, Seen{ETag: began.ETag, SpecOnly: true}, func(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			was = live
			want, err := edited(ref, live, began.Object, obj)
			if err != nil {
				return nil, err
			}
			return r.Update(ctx, want, metav1.UpdateOptions{DryRun: dryRunOf(dryRun), FieldValidation: metav1.FieldValidationStrict})
		})
	})
	got.Was = was
	return got, err
}

// edited is live with the spec of obj and with its changes of labels and annotations.
func edited(ref Ref, live, began, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	overlaps := false
	both, err := ref.Kind.Merge(began, live, obj, func(d catalog.Difference) any {
		overlaps = overlaps || d.Path[0] == "metadata"
		return d.Mine
	})
	if err != nil {
		return nil, err
	}
	if overlaps {
		return nil, changed(ref, live)
	}
	both.Object["spec"] = obj.Object["spec"]
	return merged(live, both), nil
}

// changed is the error of who meant another version than live.
func changed(ref Ref, live *unstructured.Unstructured) error {
	now := live.DeepCopy()
	_, err := strip(now)
	return cmp.Or[error](err, &ChangedError{Resource: ref.Kind.Plural, Name: ref.Name, Now: now})
}
