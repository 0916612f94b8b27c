package pages

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
)

// remembering is what a fakeCluster has of histories, by the name of the object.
type remembering struct {
	versions  map[string][]cluster.Version
	forgetful error // what reading one says
}

func (f *fakeCluster) History(ctx context.Context, id auth.Identity, ref cluster.Ref, _ *unstructured.Unstructured) ([]cluster.Version, error) {
	if _, err := f.Get(ctx, id, ref); err != nil {
		return nil, err
	}
	return f.versions[ref.Name], f.forgetful
}
