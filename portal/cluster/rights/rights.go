package rights

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/overview"
)

// verbs are the verbs on the objects of a kind.
var verbs = []string{"get", "list", "create", "update", "patch", "delete"}

// In returns what the caller can do in the namespace: the verbs by the plural names of the kinds, an empty list for
// a kind without rights.
//
// It sends few reviews: none about a namespace that does not exist, and about the whole cluster, whose decisions also
// apply to the next namespace, if no binding in the namespace names the caller.
func (r *Rights) In(ctx context.Context, id auth.Identity, kinds catalog.Catalog, namespace string) (
	map[string][]string, error,
) {
	may := map[string][]string{}
	for _, k := range kinds {
		may[k.Plural] = []string{}
	}
	if there, err := r.feed.NamespaceExists(ctx, namespace); !there || err != nil {
		return may, err
	}
	candidates, err := r.Candidates(ctx, id)
	if err != nil {
		return nil, err
	}
	if !candidates.Has(namespace) {
		namespace = ""
	}
	var all []Right
	for _, k := range kinds {
		for _, verb := range verbs {
			all = append(all, To(verb, k, namespace))
		}
	}
	granted, err := Filter(ctx, all, func(ctx context.Context, act Right) (bool, error) {
		return r.Allowed(ctx, id, act)
	})
	if err != nil {
		return nil, err
	}
	for _, act := range all { // in their order
		if slices.Contains(granted, act) {
			may[act.kind] = append(may[act.kind], act.Verb)
		}
	}
	return may, nil
}

// nothingToList reports whether the right is to list a kind of which the namespace has no objects.
func (r *Rights) nothingToList(act Right) bool {
	return act.Verb == "list" && act.kind != "" && act.Namespace != "" &&
		r.feed.Overview.Empty(overview.Place{Kind: act.kind, Namespace: act.Namespace})
}

// Ahead starts the reviews of rights that the caller is about to need, concurrently, and does not wait for them: later
// checks find the cached decision or join the review in progress. It decides nothing. A page checks a dozen rights one
// after the other, and this reduces the wait to about one round trip to the API server.
func (r *Rights) Ahead(ctx context.Context, id auth.Identity, rights ...Right) {
	open := make([]Right, 0, len(rights))
	for _, act := range rights {
		q := QuestionOf(id, act)
		if _, known := r.cache.get(q, act.Namespace); known || r.nothingToList(act) && r.cache.granted(q) {
			continue
		}
		open = append(open, act)
	}
	if len(open) < 2 {
		return // the check itself will send the review
	}
	go func() {
		_, _ = Filter(ctx, open, func(ctx context.Context, act Right) (bool, error) {
			_, _ = r.Allowed(ctx, id, act) // the check itself reports the error
			return false, nil
		})
	}()
}
