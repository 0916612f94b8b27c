package write

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
)

// conflictRetries bounds how often a write is retried because the status was written meanwhile.
const conflictRetries = 5

// Seen identifies the object that a caller wants to delete; empty fields are not compared.
type Seen struct {
	UID  types.UID // an object of the same name created since then is not deleted
	ETag string    // as for Update; a *ChangedError reports that the version is another one
	// Confirmed is the name that the caller typed to confirm a deletion; "" if none.
	Confirmed string
	// SpecOnly leaves labels and annotations out of the comparison.
	SpecOnly bool
}

// isVersion reports whether the ETag of obj is among s.ETag, a comma-separated list; an empty list matches any version.
func (s Seen) isVersion(obj *unstructured.Unstructured) bool {
	if s.ETag == "" {
		return true
	}
	part := func(etag string) string { return etag }
	if s.SpecOnly {
		part = specOf
	}
	is := part(ETag(obj))
	return slices.ContainsFunc(strings.Split(s.ETag, ","), func(etag string) bool { return part(OwnETag(etag)) == is })
}

// retryOnConflict gets the object, compares it with seen, and calls do to write it. do must bind its write to that
// version; after a conflict the object is read again.
func retryOnConflict(ctx context.Context, r resource, ref catalog.Ref, seen Seen,
	do func(live *unstructured.Unstructured) (*unstructured.Unstructured, error),
) (*unstructured.Unstructured, error) {
	var err error
	for range conflictRetries {
		var live *unstructured.Unstructured
		if live, err = r.Get(ctx, ref.Name, metav1.GetOptions{}); err != nil {
			return nil, err
		}
		if !seen.isVersion(live) || seen.UID != "" && seen.UID != live.GetUID() {
			return nil, changedError(ref, live)
		}
		var out *unstructured.Unstructured
		if out, err = do(live); !apierrors.IsConflict(err) {
			return out, err
		}
	}
	return nil, err
}

// deleteSeen binds the deletion to the version that it compared, and retries if the status was written meanwhile.
func deleteSeen(ctx context.Context, r resource, ref catalog.Ref, seen Seen, dryRun bool) (err error) {
	for range conflictRetries {
		opts := metav1.DeleteOptions{DryRun: dryRunOf(dryRun), Preconditions: &metav1.Preconditions{}}
		if seen.UID != "" {
			opts.Preconditions.UID = &seen.UID
		}
		if seen.ETag != "" {
			live, err := r.Get(ctx, ref.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if !seen.isVersion(live) {
				return changedError(ref, live)
			}
			version := live.GetResourceVersion()
			opts.Preconditions.ResourceVersion = &version
		}
		if err = r.Delete(ctx, ref.Name, opts); seen.ETag == "" || !apierrors.IsConflict(err) {
			return err
		}
	}
	return err
}

// bindTo returns the patch restricted to exactly this version of the object.
func bindTo(patch map[string]any, live *unstructured.Unstructured) map[string]any {
	out, metadata := maps.Clone(patch), map[string]any{}
	if given, ok := patch["metadata"].(map[string]any); ok {
		metadata = maps.Clone(given)
	}
	metadata["uid"], metadata["resourceVersion"] = live.GetUID(), live.GetResourceVersion()
	out["metadata"] = metadata
	return out
}

// withPatch returns live with the patch applied (RFC 7396). Fields that the patch does not name are shared with live.
func withPatch(live *unstructured.Unstructured, patch map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: merged(live.Object, patch)}
}

func merged(target, patch map[string]any) map[string]any {
	out := maps.Clone(target)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(out, key)
		case map[string]any:
			was, _ := out[key].(map[string]any)
			out[key] = merged(was, value)
		default:
			out[key] = value
		}
	}
	return out
}

// withUsersPart returns live with the fields that users write taken from obj; finalizers, owner references and status
// stay.
func withUsersPart(live, obj *unstructured.Unstructured) *unstructured.Unstructured {
	out, wanted := live.DeepCopy(), catalog.Clean(obj)
	out.SetLabels(wanted.GetLabels())
	annotations := wanted.GetAnnotations()
	for key, v := range live.GetAnnotations() {
		if key == feed.LastApplied || v1alpha1.WrittenByAdmission(key) {
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[key] = v
		}
	}
	out.SetAnnotations(annotations)
	out.Object["spec"] = wanted.Object["spec"]
	return out
}

// mergeEdit returns live with the spec of obj and with obj's changes of labels and annotations since began.
func mergeEdit(ref catalog.Ref, live, began, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	overlaps := false
	both, err := ref.Kind.Merge(began, live, obj, func(d catalog.Difference) any {
		overlaps = overlaps || d.Path[0] == "metadata"
		return d.Mine
	})
	if err != nil {
		return nil, err
	}
	if overlaps {
		return nil, changedError(ref, live)
	}
	both.Object["spec"] = obj.Object["spec"]
	return withUsersPart(live, both), nil
}

// changedError returns the error for a caller who wanted to change a version other than live.
func changedError(ref catalog.Ref, live *unstructured.Unstructured) error {
	now := live.DeepCopy()
	_, err := feed.Strip(now)
	return cmp.Or[error](err, &failure.ChangedError{Resource: ref.Kind.Plural, Name: ref.Name, Now: now})
}

func dryRunOf(dryRun bool) []string {
	if dryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}
