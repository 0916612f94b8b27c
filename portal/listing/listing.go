// Package listing lists the platform's objects: those that a caller can see, filtered, sorted and in pages. The pages
// and the REST API both use it.
package listing

import (
	"cmp"
	"context"
	"errors"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/overview"
)

// Item is an object in a list that can be long: its view is created only if it is shown.
type Item struct {
	*overview.Row
	Kind *catalog.Kind
}

// Found are the objects of a list, and its kinds.
type Found struct {
	Items     []Item          // unsorted
	Kinds     catalog.Catalog // those that the caller can list
	Forbidden catalog.Catalog // those that the caller cannot list
}

// Read returns the objects of the kinds in namespace, "" for all namespaces in which the caller can list them. Kinds
// that the caller cannot list are left out; if there are no others, the error is a *failure.ForbiddenError.
func Read(ctx context.Context, c *cluster.Cluster, id auth.Identity, kinds catalog.Catalog, namespace string) (
	Found, error,
) {
	var found Found
	var refused error
	c.Rights.Ahead(ctx, id, rights.ToEach("list", kinds, namespace)...)
	of, n := make([][]*overview.Row, len(kinds)), 0
	for i := range kinds {
		k := &kinds[i]
		rows, err := c.Objects.Rows(ctx, id, *k, namespace)
		if _, ok := errors.AsType[*failure.ForbiddenError](err); ok {
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
	found.Items = make([]Item, 0, n) // allocated once, since growing would double the garbage
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
