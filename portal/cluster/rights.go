package cluster

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/overview"
)

// verbs are what can be done with the objects of a kind.
var verbs = []string{"get", "list", "create", "update", "patch", "delete"}

// Rights returns what the caller can do in the namespace, by the plural names of the kinds; of a kind that may not be
// touched the list is empty.
//
// It asks as little as it can: nothing about a namespace that does not exist, in which nobody can do anything, and
// about the whole cluster, whose answers hold for the next namespace too, where the caller has rights by nothing else.
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
	granted, err := filter(ctx, all, func(ctx context.Context, act Right) (bool, error) { return c.access.allowed(ctx, id, act) })
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

// nothingToList reports whether a right is to list a kind of which the namespace has nothing.
func (c *Cluster) nothingToList(r Right) bool {
	return r.verb == "list" && r.ofKind && r.namespace != "" && c.overview.Empty(overview.Place{Kind: r.resource, Namespace: r.namespace})
}

// Ahead asks for rights that the caller is about to need, all at once, and waits for no answer: whoever needs one then
// finds it, or waits for the question that is under way. It decides nothing. A page asks a dozen questions, one after
// the other, and this makes of as many times to the API server and back about one.
func (c *Cluster) Ahead(ctx context.Context, id auth.Identity, rights ...Right) {
	open := make([]Right, 0, len(rights))
	for _, r := range rights {
		q := questionOf(id, r)
		if _, known := c.access.cache.get(q, r.namespace); known || c.nothingToList(r) && c.access.cache.granted(q) {
			continue
		}
		open = append(open, r)
	}
	if len(open) < 2 {
		return // whoever needs it asks as soon
	}
	go func() {
		_, _ = filter(ctx, open, func(ctx context.Context, r Right) (bool, error) {
			_, _ = c.access.allowed(ctx, id, r) // an error meets whoever needs the answer
			return false, nil
		})
	}()
}
