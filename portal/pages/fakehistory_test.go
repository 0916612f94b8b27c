package pages

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

// remembering is the fake's history, by the name of the object.
type remembering struct {
	versions  map[string][]cluster.Version
	forgetful error // error of reading one
}

func (f *fakeCluster) History(ctx context.Context, id auth.Identity, ref catalog.Ref, _ *unstructured.Unstructured) (
	[]cluster.Version, error,
) {
	if _, err := f.Objects.Get(ctx, id, ref); err != nil {
		return nil, err
	}
	return f.versions[ref.Name], f.forgetful
}
