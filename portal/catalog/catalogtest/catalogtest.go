// Package catalogtest provides the catalog for tests.
package catalogtest

import (
	"sync"
	"testing"

	"github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/portal/catalog"
)

// Load returns the catalog of our CRDs, which callers must not change. It is read once.
var Load = sync.OnceValues(func() (catalog.Catalog, error) {
	crds, err := crd.All()
	if err != nil {
		return nil, err
	}
	return catalog.New(crds, kinds.All())
})

// Kinds returns the catalog of our CRDs, which tests must not change. It is read once for all tests of a package,
// because reading takes longer than most tests.
func Kinds(tb testing.TB) catalog.Catalog {
	tb.Helper()
	all, err := Load()
	if err != nil {
		tb.Fatal(err)
	}
	return all
}
