package listing

import (
	"cmp"
	"slices"
)

// Compare orders two items, as slices.SortFunc wants it.
type Compare func(a, b Item) int

// Sort keys: by age the youngest first, by status objects that need attention first, by time to ready the slowest
// first, and missing endpoints last.
var (
	ByName      Compare = func(a, b Item) int { return cmp.Compare(a.Name, b.Name) }
	ByNamespace Compare = func(a, b Item) int { return cmp.Compare(a.Namespace, b.Namespace) }
	ByKind      Compare = func(a, b Item) int { return cmp.Compare(a.Kind.Name, b.Kind.Name) }
	ByTitle     Compare = func(a, b Item) int { return cmp.Compare(a.Kind.Title, b.Kind.Title) }
	ByStatus    Compare = func(a, b Item) int { return cmp.Compare(a.Phase.Urgency(), b.Phase.Urgency()) }
	ByAge       Compare = func(a, b Item) int { return b.Created.Compare(a.Created) }
	ByTook      Compare = func(a, b Item) int { return cmp.Compare(b.Took, a.Took) }
	ByEndpoint  Compare = func(a, b Item) int { return EmptyLast(a.Endpoint, b.Endpoint) }
)

// EmptyLast compares strings; empty ones come last.
func EmptyLast(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// Then orders by c, reversed if desc, and then by name, namespace and plural of the kind, so that the order is stable.
func (c Compare) Then(desc bool) Compare {
	return func(a, b Item) int {
		by := c(a, b)
		if desc {
			by = -by
		}
		if by == 0 { // one after the other: cmp.Or would allocate for each pair
			by = cmp.Compare(a.Name, b.Name)
		}
		if by == 0 {
			by = cmp.Compare(a.Namespace, b.Namespace)
		}
		if by == 0 {
			by = cmp.Compare(a.Kind.Plural, b.Kind.Plural)
		}
		return by
	}
}

// First returns the first n items in order. It may reorder all, and sorts only those n.
func First(all []Item, n int, order Compare) []Item {
	if len(all) < 8*n {
		slices.SortFunc(all, order)
		return all[:min(n, len(all))]
	}
	kept := make([]Item, 0, n+1)
	for _, l := range all {
		if len(kept) == n && order(l, kept[n-1]) >= 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(kept, l, order)
		kept = slices.Insert(kept, i, l)
		kept = kept[:min(n, len(kept))]
	}
	return kept
}
