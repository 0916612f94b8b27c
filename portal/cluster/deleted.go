package cluster

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/operator"
)

// leaving returns the kinds whose objects can leave resources in AWS when they are deleted.
func (o *operatorPart) leaving() catalog.Catalog {
	return slices.DeleteFunc(slices.Clone(o.kinds.Now().Requestable()), func(k catalog.Kind) bool {
		return !k.Namespaced || !k.Has("deletionPolicy")
	})
}

// Deleted returns what remains in AWS of the deleted objects of a namespace, for the kinds that the caller can list
// there. A caller who can list none gets a *failure.ForbiddenError.
func (o *operatorPart) Deleted(ctx context.Context, id auth.Identity, namespace string) (operator.Deleted, error) {
	kinds := o.leaving()
	listed := map[string]bool{}
	for _, k := range kinds {
		may, err := o.rights.Can(ctx, id, "list", k, namespace)
		if err != nil {
			return operator.Deleted{}, err
		}
		if may {
			listed[k.Name] = true
		}
	}
	if len(listed) == 0 {
		return operator.Deleted{}, o.rights.RequireRight(ctx, id, rights.To("list", kinds[0], namespace))
	}
	out := o.operator.Deleted(ctx, namespace)
	out.Items = slices.DeleteFunc(slices.Clone(out.Items), func(d operatorapi.Deleted) bool { return !listed[d.Kind] })
	return out, nil
}
