package pages

import (
	"cmp"
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// givenRights lists namespaces in the order in which the test gave them, as the golden files do; a cluster sorts them.
type givenRights struct {
	*rights.Rights
	f *fakeCluster
}

func (g givenRights) Namespaces(ctx context.Context, id auth.Identity) ([]string, error) {
	names, err := g.Rights.Namespaces(ctx, id)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Compare(slices.Index(g.f.Spaces.Names, a), slices.Index(g.f.Spaces.Names, b))
	})
	return names, err
}

// givenObjects lists objects as the test gave them, as the golden files do: a cluster sorts them, and has each once.
type givenObjects struct {
	*objects.Objects
	f *fakeCluster
}

func (g givenObjects) List(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (
	[]*unstructured.Unstructured, error,
) {
	all, err := g.Objects.List(ctx, id, k, namespace)
	g.f.mu.Lock()
	defer g.f.mu.Unlock()
	var out []*unstructured.Unstructured
	for _, o := range g.f.objects {
		if slices.ContainsFunc(all, func(seen *unstructured.Unstructured) bool {
			return o.GetKind() == k.Name && o.GetNamespace() == seen.GetNamespace() && o.GetName() == seen.GetName()
		}) {
			out = append(out, o)
		}
	}
	return out, err
}

// Get finds no object whose name cannot be; a cluster denies the right to it.
func (g givenObjects) Get(ctx context.Context, id auth.Identity, ref catalog.Ref) (*unstructured.Unstructured, error) {
	if len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
		return nil, cmp.Or[error](g.f.Rights.Require(ctx, id, "get", ref),
			apierrors.NewNotFound(ref.Kind.Resource.GroupResource(), ref.Name))
	}
	return g.Objects.Get(ctx, id, ref)
}
