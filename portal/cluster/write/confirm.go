package write

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

// AsksToConfirm reports whether a deletion was refused because it needs a confirmation.
func AsksToConfirm(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), v1alpha1.AnnotationConfirmDeletion+"=")
}

// deleteConfirmed annotates the object with the confirmation of its deletion, and deletes it. If the deletion fails, it
// removes the annotation. A dry run does nothing: the missing confirmation was the only reason to refuse the deletion.
func deleteConfirmed(ctx context.Context, r resource, ref catalog.Ref, seen Seen, dryRun bool) error {
	if dryRun {
		return nil
	}
	noted, err := retryOnConflict(ctx, r, ref, seen, func(live *unstructured.Unstructured) (
		*unstructured.Unstructured, error,
	) {
		return confirm(ctx, r, live, ref.Name)
	})
	if err != nil {
		return err
	}
	err = deleteSeen(ctx, r, ref, Seen{UID: noted.GetUID(), ETag: ETag(noted)}, false)
	if err != nil && !apierrors.IsNotFound(err) {
		_, _ = confirm(ctx, r, noted, nil) // the first error is returned; a confirmation that remains does no harm
	}
	return err
}

// confirm sets the annotation of a confirmed deletion on exactly this version of an object; nil removes it.
func confirm(ctx context.Context, r resource, live *unstructured.Unstructured, value any) (
	*unstructured.Unstructured, error,
) {
	note := map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{v1alpha1.AnnotationConfirmDeletion: value},
	}}
	body, err := json.Marshal(bindTo(note, live))
	if err != nil {
		return nil, fmt.Errorf("writing the confirmation: %w", err)
	}
	return r.Patch(ctx, live.GetName(), types.MergePatchType, body, metav1.PatchOptions{})
}
