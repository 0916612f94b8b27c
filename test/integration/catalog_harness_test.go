//go:build integration

package integration

import (
	"context"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	shipped "github.com/portico-platform/portico/config/catalog"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/controllers/catalog"
	"github.com/portico-platform/portico/test/stack"
)

// shipEntries writes the catalog entries of Portico's kinds as the operator does when it starts: a portal is not ready
// without.
func shipEntries(ctx context.Context) error {
	cfg, err := world.ServiceAccountConfig(ctx, stack.Namespace, "portico-operator")
	if err != nil {
		return err
	}
	c, err := client.New(cfg, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		return err
	}
	entries, err := shipped.Entries()
	if err != nil {
		return err
	}
	return (&catalog.Shipper{Client: c, Entries: entries, Log: logr.Discard()}).Write(ctx)
}
