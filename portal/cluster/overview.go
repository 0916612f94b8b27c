package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/overview"
)

// Overview returns the state of all objects that the caller can list. Its Narrow kinds are those that the caller cannot
// list everywhere.
func (c *Cluster) Overview(ctx context.Context, id auth.Identity) (overview.Overview, error) {
	shown, narrow, err := c.places(ctx, id)
	if err != nil {
		return overview.Overview{}, err
	}
	o := c.overview.Of(func(p overview.Place) bool { return shown[p] })
	o.Narrow = narrow
	return o, nil
}

// Rows returns the list rows of the objects that List returns, unsorted. They are shared and must not be changed.
// Nothing is copied: it is for long lists of which a page shows a part. While the namespace has no objects of the kind,
// a lost right to list it is noticed within emptyTTL.
func (c *Cluster) Rows(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (
	[]*overview.Row, error,
) {
	at := overview.Place{Kind: k.Plural, Namespace: namespace}
	if namespace != "" {
		rows := c.overview.Rows(at, func(string) bool { return true })
		if len(rows) == 0 {
			return nil, c.access.lately(ctx, id, RightTo("list", k, namespace))
		}
		if err := c.Require(ctx, id, "list", Ref{Kind: k, Namespace: namespace}); err != nil {
			return nil, err
		}
		return rows, nil
	}
	all := true
	var err error
	if !k.Namespaced {
		err = c.Require(ctx, id, "list", Ref{Kind: k, Namespace: namespace})
	} else {
		all, err = c.Can(ctx, id, "list", k, "")
	}
	if err != nil {
		return nil, err
	}
	visible := sets.Set[string]{}
	if !all {
		if visible, err = c.visible(ctx, id, k); err != nil {
			return nil, err
		}
	}
	return c.overview.Rows(at, func(ns string) bool { return all || visible.Has(ns) }), nil
}

// visible returns the candidate namespaces in which the caller can list the kind.
func (c *Cluster) visible(ctx context.Context, id auth.Identity, k catalog.Kind) (sets.Set[string], error) {
	candidates, err := c.candidates(ctx, id)
	if err != nil {
		return nil, err
	}
	names, err := filter(ctx, sets.List(candidates), func(ctx context.Context, ns string) (bool, error) {
		return c.Can(ctx, id, "list", k, ns)
	})
	return sets.New(names...), err
}

// Unlisted returns, by namespace, the requestable kinds that the caller cannot list there; a namespace in which the
// caller can list all of them is left out.
func (c *Cluster) Unlisted(ctx context.Context, id auth.Identity, namespaces []string) (
	map[string]catalog.Catalog, error,
) {
	out := map[string]catalog.Catalog{}
	candidates, err := c.candidates(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, k := range c.kinds.Requestable() {
		all, err := c.Can(ctx, id, "list", k, "")
		if err != nil {
			return nil, err
		}
		if all {
			continue
		}
		refused, err := filter(ctx, namespaces, func(ctx context.Context, ns string) (bool, error) {
			if !candidates.Has(ns) {
				return true, nil
			}
			may, err := c.Can(ctx, id, "list", k, ns)
			return !may, err
		})
		if err != nil {
			return nil, err
		}
		for _, ns := range refused {
			out[ns] = append(out[ns], k)
		}
	}
	return out, nil
}

// TimesToReady returns how long objects of the kind took to become ready, over all namespaces. It needs no right, since
// it reveals nothing about single objects.
func (c *Cluster) TimesToReady(k catalog.Kind) overview.Times {
	return c.overview.TimesToReady(k.Plural)
}

// places returns the places with objects that the caller can list. For each kind it checks the right in the whole
// cluster first, and then in the candidate namespaces.
func (c *Cluster) places(ctx context.Context, id auth.Identity) (
	shown map[overview.Place]bool, narrow []string, err error,
) {
	everywhere := map[string]bool{}
	for _, k := range c.kinds {
		if everywhere[k.Plural], err = c.Can(ctx, id, "list", k, ""); err != nil {
			return nil, nil, err
		}
		if !everywhere[k.Plural] {
			narrow = append(narrow, k.Plural)
		}
	}
	candidates, err := c.candidates(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	may, err := filter(ctx, c.overview.Places(), func(ctx context.Context, p overview.Place) (bool, error) {
		k, known := c.kinds.ByPlural(p.Kind)
		if everywhere[p.Kind] || !known || !candidates.Has(p.Namespace) {
			return everywhere[p.Kind], nil
		}
		return c.Can(ctx, id, "list", k, p.Namespace)
	})
	shown = make(map[overview.Place]bool, len(may))
	for _, p := range may {
		shown[p] = true
	}
	return shown, narrow, err
}

// counting updates the overview with the changes of one kind. next is called after each, when the overview has it.
func (c *Cluster) counting(k catalog.Kind, next toolscache.ResourceEventHandler) toolscache.ResourceEventHandler {
	put := func(obj any) {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			c.overview.Put(k, u)
		}
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			put(obj)
			next.OnAdd(obj, initial)
		},
		UpdateFunc: func(before, after any) {
			if !sameVersion(before, after) {
				put(after)
			}
			next.OnUpdate(before, after)
		},
		DeleteFunc: func(obj any) {
			if u, ok := lastState(obj).(*unstructured.Unstructured); ok {
				c.overview.Remove(k.Plural, u.GetNamespace(), u.GetName())
			}
			next.OnDelete(obj)
		},
	}
}
