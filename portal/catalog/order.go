package catalog

import (
	"cmp"
	"slices"
)

// order ranks field names, at any depth, because a schema's properties have no order.
type order []string

// compare ranks a before b: first the fields in o, then the others by name.
func (o order) compare(a, b Field) int {
	rank := func(f Field) int {
		if i := slices.Index(o, f.Name); i >= 0 {
			return i
		}
		return len(o)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
}
