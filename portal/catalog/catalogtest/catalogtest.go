// Package catalogtest gives tests the catalog.
package catalogtest

import (
	"sync"
	"testing"

	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/portal/catalog"
)

var load = sync.OnceValues(func() (catalog.Catalog, error) { return catalog.Load(crd.Files) })

// Kinds returns the catalog of our CRDs. It is read once for all tests of a package, for that takes longer than most of
// them do: none may change it.
func Kinds(tb testing.TB) catalog.Catalog {
	tb.Helper()
	kinds, err := load()
	if err != nil {
		tb.Fatal(err)
	}
	return kinds
}
