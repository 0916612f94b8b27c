package pages

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/write"
)

// Edit writes as the API server would: it refuses an invalid bucket name and sets a default deletion policy.
func (f *fakeCluster) Edit(ctx context.Context, id auth.Identity, k catalog.Kind, began write.Began,
	obj *unstructured.Unstructured, dryRun bool,
) (write.Result, error) {
	if err := f.Rights.Require(ctx, id, "update", refOf(f.Kinds, obj)); err != nil {
		return write.Result{}, err
	}
	ref := catalog.Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	was, err := f.Objects.Get(ctx, id, ref)
	if err != nil {
		return write.Result{}, err
	}
	if write.ETag(was) != began.ETag {
		return write.Result{}, &failure.ChangedError{Resource: k.Plural, Name: obj.GetName(), Now: was}
	}
	if err := badBucket(k, obj); err != nil {
		return write.Result{}, err
	}
	out := was.DeepCopy()
	out.SetLabels(obj.GetLabels())
	out.Object["spec"] = obj.DeepCopy().Object["spec"]
	_ = unstructured.SetNestedField(out.Object, "Delete", "spec", "deletionPolicy")
	out.SetGeneration(was.GetGeneration() + 1)
	if dryRun {
		f.dryRuns++
		return write.Result{Object: out, Was: was, Warnings: []string{"unencrypted uploads are refused"}}, nil
	}
	f.mu.Lock()
	f.objects[slices.IndexFunc(f.objects, func(o *unstructured.Unstructured) bool {
		return o.GetUID() == was.GetUID()
	})] = out
	f.mu.Unlock()
	return write.Result{Object: out, Was: was}, nil
}

func badBucket(k catalog.Kind, obj *unstructured.Unstructured) error {
	bucket, _, _ := unstructured.NestedString(obj.Object, "spec", "bucketName")
	if bucket != "Bad_Name" {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Kind: k.Name}, obj.GetName(), field.ErrorList{
		field.Invalid(field.NewPath("spec", "bucketName"), bucket, "use lower-case letters, digits, dots and hyphens"),
	})
}

// Annotate patches the current object of the name.
func (f *fakeCluster) Annotate(ctx context.Context, id auth.Identity, ref catalog.Ref, annotations map[string]*string) (
	*unstructured.Unstructured, error,
) {
	if f.policy != nil {
		return nil, f.policy
	}
	if err := f.Rights.Require(ctx, id, "patch", ref); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		if o.GetKind() != ref.Kind.Name || o.GetNamespace() != ref.Namespace || o.GetName() != ref.Name {
			continue
		}
		for key, value := range annotations {
			if value == nil {
				unstructured.RemoveNestedField(o.Object, "metadata", "annotations", key)
			} else {
				_ = unstructured.SetNestedField(o.Object, *value, "metadata", "annotations", key)
			}
		}
		return o, nil
	}
	return nil, apierrors.NewNotFound(ref.Kind.Resource.GroupResource(), ref.Name)
}

// Update fails: pages do not call it.
func (f *fakeCluster) Update(context.Context, auth.Identity, catalog.Kind, *unstructured.Unstructured, string, bool) (
	write.Result, error,
) {
	return write.Result{}, errors.ErrUnsupported
}
