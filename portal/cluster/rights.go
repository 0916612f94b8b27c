package cluster

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/overview"
)

// verbs are the verbs on the objects of a kind.
var verbs = []string{"get", "list", "create", "update", "patch", "delete"}

// Rights returns what the caller can do in the namespace: the verbs by the plural names of the kinds, an empty list for
// a kind without rights.
//
// It sends few reviews: none about a namespace that does not exist, and about the whole cluster, whose decisions also
// apply to the next namespace, if no binding in the namespace names the caller.
func (c *Cluster) Rights(ctx context.Context, id auth.Identity, kinds catalog.Catalog, namespace string) (
	map[string][]string, error,
) {
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
	granted, err := filter(ctx, all, func(ctx context.Context, act Right) (bool, error) {
		return c.access.allowed(ctx, id, act)
	})
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

// nothingToList reports whether the right is to list a kind of which the namespace has no objects.
func (c *Cluster) nothingToList(r Right) bool {
	return r.verb == "list" && r.ofKind && r.namespace != "" &&
		c.overview.Empty(overview.Place{Kind: r.resource, Namespace: r.namespace})
}

// Ahead starts the reviews of rights that the caller is about to need, concurrently, and does not wait for them: later
// checks find the cached decision or join the review in progress. It decides nothing. A page checks a dozen rights one
// after the other, and this reduces the wait to about one round trip to the API server.
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
		return // the check itself will send the review
	}
	go func() {
		_, _ = filter(ctx, open, func(ctx context.Context, r Right) (bool, error) {
			_, _ = c.access.allowed(ctx, id, r) // the check itself reports the error
			return false, nil
		})
	}()
}
