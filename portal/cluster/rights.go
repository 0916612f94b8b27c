package cluster

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// verbs are what can be done with the objects of a kind.
var verbs = []string{"get", "list", "create", "update", "patch", "delete"}

// Rights are what the caller may do in the namespace, by the plural names of the kinds; of a kind that may not be touched
// the list is empty.
//
// It asks as little as it can: nothing about a namespace that does not exist, in which nobody can do anything, and about
// the whole cluster, whose answers hold for the next namespace too, where the caller has rights by nothing else.
func (c *Cluster) Rights(ctx context.Context, id auth.Identity, kinds catalog.Catalog, namespace string) (map[string][]string, error) {
	may := map[string][]string{}
	for _, k := range kinds {
		may[k.Plural] = []string{}
	}
	if there, err := c.namespaceExists(ctx, namespace); !there || err != nil {
		return may, err
	}
	candidates, err := c.candidates(ctx, id)
	if err != nil {
		return nil, err
	}
	if !candidates.Has(namespace) {
		namespace = ""
	}
	var all []Right
	for _, k := range kinds {
		for _, verb := range verbs {
			all = append(all, RightTo(verb, k, namespace))
		}
	}
	granted, err := among(ctx, all, func(ctx context.Context, act Right) (bool, error) { return c.access.allowed(ctx, id, act) })
	if err != nil {
		return nil, err
	}
	for _, act := range all { // in their order
		if slices.Contains(granted, act) {
			may[act.resource] = append(may[act.resource], act.verb)
		}
	}
	return may, nil
}
