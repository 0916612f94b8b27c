package objects

import (
	"context"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/overview"
)

// Overview returns the state of all objects that the caller can list. Its Narrow kinds are those that the caller cannot
// list everywhere.
func (o *Objects) Overview(ctx context.Context, id auth.Identity) (overview.Overview, error) {
	shown, narrow, err := o.places(ctx, id)
	if err != nil {
		return overview.Overview{}, err
	}
	out := o.feed.Overview.Of(func(p overview.Place) bool { return shown[p] })
	out.Narrow = narrow
	return out, nil
}

// Rows returns the list rows of the objects that List returns, unsorted. They are shared and must not be changed.
// Nothing is copied: it is for long lists of which a page shows a part. While the namespace has no objects of the kind,
// a lost right to list it is noticed within emptyTTL.
func (o *Objects) Rows(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (
	[]*overview.Row, error,
) {
	at := overview.Place{Kind: k.Plural, Namespace: namespace}
	if namespace != "" {
		rows := o.feed.Overview.Rows(at, func(string) bool { return true })
		if len(rows) == 0 {
			return nil, o.rights.Lately(ctx, id, rights.To("list", k, namespace))
		}
		if err := o.rights.Require(ctx, id, "list", catalog.Ref{Kind: k, Namespace: namespace}); err != nil {
			return nil, err
		}
		return rows, nil
	}
	all := true
	var err error
	if !k.Namespaced {
		err = o.rights.Require(ctx, id, "list", catalog.Ref{Kind: k, Namespace: namespace})
	} else {
		all, err = o.rights.Can(ctx, id, "list", k, "")
	}
	if err != nil {
		return nil, err
	}
	visible := sets.Set[string]{}
	if !all {
		if visible, err = o.rights.Visible(ctx, id, k); err != nil {
			return nil, err
		}
	}
	return o.feed.Overview.Rows(at, func(ns string) bool { return all || visible.Has(ns) }), nil
}

// TimesToReady returns how long objects of the kind took to become ready, over all namespaces. It needs no right, since
// it reveals nothing about single objects.
func (o *Objects) TimesToReady(k catalog.Kind) overview.Times {
	return o.feed.Overview.TimesToReady(k.Plural)
}

// places returns the places with objects that the caller can list. For each kind it checks the right in the whole
// cluster first, and then in the candidate namespaces.
func (o *Objects) places(ctx context.Context, id auth.Identity) (
	shown map[overview.Place]bool, narrow []string, err error,
) {
	everywhere := map[string]bool{}
	for _, k := range o.feed.Kinds.Now() {
		if everywhere[k.Plural], err = o.rights.Can(ctx, id, "list", k, ""); err != nil {
			return nil, nil, err
		}
		if !everywhere[k.Plural] {
			narrow = append(narrow, k.Plural)
		}
	}
	candidates, err := o.rights.Candidates(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	may, err := rights.Filter(ctx, o.feed.Overview.Places(), func(ctx context.Context, p overview.Place) (bool, error) {
		k, known := o.feed.Kinds.Now().ByPlural(p.Kind)
		if everywhere[p.Kind] || !known || !candidates.Has(p.Namespace) {
			return everywhere[p.Kind], nil
		}
		return o.rights.Can(ctx, id, "list", k, p.Namespace)
	})
	shown = make(map[overview.Place]bool, len(may))
	for _, p := range may {
		shown[p] = true
	}
	return shown, narrow, err
}
