// Package listing makes lists of the platform's objects: which there are for a caller, which of them match, in which
// order they stand, and which of many are shown. The pages and the REST API both list by it.
package listing

import (
	"cmp"
	"context"
	"errors"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/overview"
)

// Cluster is what is needed of cluster.Cluster, whose contract holds.
type Cluster interface {
	Rows(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]*overview.Row, error)
	Ahead(ctx context.Context, id auth.Identity, rights ...cluster.Right)
}

// Item is an object in a list that may be long: what is shown of it is made for those that are shown.
type Item struct {
	*overview.Row
	Kind *catalog.Kind
}

// Found is what there is to list.
type Found struct {
	Items     []Item          // in no order
	Kinds     catalog.Catalog // those that the caller can list
	Forbidden catalog.Catalog // those that were left out, because the caller may not
}

// Read finds the objects of the kinds in namespace, "" for all that the caller can list in. Kinds that the caller may
// not list there are left out; if those are all, the error is a *cluster.ForbiddenError.
func Read(ctx context.Context, c Cluster, id auth.Identity, kinds catalog.Catalog, namespace string) (Found, error) {
	var found Found
	var refused error
	c.Ahead(ctx, id, cluster.RightsTo("list", kinds, namespace)...)
	of, n := make([][]*overview.Row, len(kinds)), 0
	for i := range kinds {
		k := &kinds[i]
		rows, err := c.Rows(ctx, id, *k, namespace)
		if _, ok := errors.AsType[*cluster.ForbiddenError](err); ok {
			refused = cmp.Or(refused, err)
			found.Forbidden = append(found.Forbidden, *k)
			continue
		}
		if err != nil {
			return Found{}, err
		}
		found.Kinds = append(found.Kinds, *k)
		of[i] = rows
		n += len(rows)
	}
	found.Items = make([]Item, 0, n) // at once: of thousands, growing would leave as much again to be collected
	for i, rows := range of {
		for _, row := range rows {
			found.Items = append(found.Items, Item{row, &kinds[i]})
		}
	}
	if len(found.Kinds) == 0 && refused != nil {
		return Found{}, refused
	}
	return found, nil
}
