package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

const (
	// conflictRetries bounds how often a write is tried again because the status was written in between.
	conflictRetries = 5

	requestedBy = "portico.dev/requested-by"
)

// Update gives the object the labels, annotations and spec of obj, as the caller. etag, unless empty, must be the
// ETag of the version that the caller saw, or several of them separated by commas; a *ChangedError says that what
// users write of it is another by now, or that the object is not the one with obj's UID, if obj has one. Writes of the status in between
// do not matter.
func (c *Cluster) Update(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured, etag string, dryRun bool) (Result, error) {
	ref := Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	return c.write(ctx, id, change{"update", ref, dryRun}, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		return edit(ctx, r, ref, Seen{UID: obj.GetUID(), ETag: etag}, func(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return r.Update(ctx, merged(live, obj),
				metav1.UpdateOptions{DryRun: dryRunOf(dryRun), FieldValidation: metav1.FieldValidationStrict})
		})
	})
}

// Patch merges what is given (RFC 7396) into one object, as the caller. Nothing else of the object is sent, so that what
// others changed in the meantime stays. etag is as for Update.
func (c *Cluster) Patch(ctx context.Context, id auth.Identity, ref Ref, with map[string]any, etag string, dryRun bool) (Result, error) {
	return c.write(ctx, id, change{"patch", ref, dryRun}, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		send := func(with map[string]any) (*unstructured.Unstructured, error) {
			body, err := json.Marshal(with)
			if err != nil {
				return nil, fmt.Errorf("writing the patch: %w", err)
			}
			return r.Patch(ctx, ref.Name, types.MergePatchType, body,
				metav1.PatchOptions{DryRun: dryRunOf(dryRun), FieldValidation: metav1.FieldValidationStrict})
		}
		if etag == "" {
			return send(with)
		}
		return edit(ctx, r, ref, Seen{ETag: etag}, func(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			return send(bound(with, live))
		})
	})
}

// edit writes what do makes of the object as it is, if it is the version that was seen. do must bind its write to that
// version; when it conflicts, the object is looked at again.
func edit(ctx context.Context, r resource, ref Ref, seen Seen,
	do func(live *unstructured.Unstructured) (*unstructured.Unstructured, error),
) (*unstructured.Unstructured, error) {
	var err error
	for range conflictRetries {
		var live *unstructured.Unstructured
		if live, err = r.Get(ctx, ref.Name, metav1.GetOptions{}); err != nil {
			return nil, err
		}
		if !seen.isVersion(live) || seen.UID != "" && seen.UID != live.GetUID() {
			return nil, changed(ref, live)
		}
		var out *unstructured.Unstructured
		if out, err = do(live); !apierrors.IsConflict(err) {
			return out, err
		}
	}
	return nil, err
}

// isVersion reports whether one of the ETags, separated by commas, is that of obj; none at all is any version.
func (s Seen) isVersion(obj *unstructured.Unstructured) bool {
	if s.ETag == "" {
		return true
	}
	part := func(etag string) string { return etag }
	if s.SpecOnly {
		part = specOf
	}
	is := part(ETag(obj))
	return slices.ContainsFunc(strings.Split(s.ETag, ","), func(etag string) bool { return part(strings.TrimSpace(etag)) == is })
}

// bound is the patch for exactly this version of this object.
func bound(patch map[string]any, live *unstructured.Unstructured) map[string]any {
	out, metadata := maps.Clone(patch), map[string]any{}
	if given, ok := patch["metadata"].(map[string]any); ok {
		metadata = maps.Clone(given)
	}
	metadata["uid"], metadata["resourceVersion"] = live.GetUID(), live.GetResourceVersion()
	out["metadata"] = metadata
	return out
}

// merged is live with what users write taken from obj; finalizers, owners and status stay.
func merged(live, obj *unstructured.Unstructured) *unstructured.Unstructured {
	out, wanted := live.DeepCopy(), catalog.Clean(obj)
	out.SetLabels(wanted.GetLabels())
	annotations := wanted.GetAnnotations()
	for _, kept := range []string{lastApplied, requestedBy} {
		if v, ok := live.GetAnnotations()[kept]; ok {
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[kept] = v
		}
	}
	out.SetAnnotations(annotations)
	out.Object["spec"] = wanted.Object["spec"]
	return out
}
