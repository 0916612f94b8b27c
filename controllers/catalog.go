package controllers

import (
	ctrl "sigs.k8s.io/controller-runtime"

	shipped "github.com/portico-platform/portico/config/catalog"
	"github.com/portico-platform/portico/controllers/catalog"
)

// setupCatalog registers CatalogEntry, which describes the kinds that are offered.
func setupCatalog(mgr ctrl.Manager, o Options) error {
	entries, err := shipped.Entries()
	if err != nil {
		return err
	}
	return catalog.Setup(mgr, entries, o.Engine)
}
