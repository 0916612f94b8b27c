// Package catalogtest provides the catalog for tests.
package catalogtest

import (
	"sync"
	"testing"

	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/portal/catalog"
)

var load = sync.OnceValues(func() (catalog.Catalog, error) { return catalog.Load(crd.Files) })

// Kinds returns the catalog of our CRDs, which tests must not change. It is read once for all tests of a package,
// because reading takes longer than most tests.
func Kinds(tb testing.TB) catalog.Catalog {
	tb.Helper()
	kinds, err := load()
	if err != nil {
		tb.Fatal(err)
	}
	return kinds
}
