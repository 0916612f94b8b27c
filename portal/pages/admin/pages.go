// Package admin serves the pages about the platform as a whole, for platform admins.
package admin

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
)

// Cluster is the part of cluster.Cluster that these pages need; see there for the contracts.
type Cluster interface {
	Platform
	Kinds() catalog.Catalog
	Can(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, namespace string) (bool, error)
	Get(ctx context.Context, id auth.Identity, ref cluster.Ref) (*unstructured.Unstructured, error)
	List(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]*unstructured.Unstructured, error)
	Rows(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]*overview.Row, error)
	Unlisted(ctx context.Context, id auth.Identity, namespaces []string) (map[string]catalog.Catalog, error)
	Quotas(ctx context.Context, id auth.Identity, namespace string) ([]cluster.Quota, error)
}

// Platform reads the platform's state, and ends the sessions of its users, for a caller, after checking access.
type Platform interface {
	Features(ctx context.Context, id auth.Identity) (operator.Features, error)
	Controllers(ctx context.Context, id auth.Identity) (operator.Work, error)
	CallHistory(ctx context.Context, id auth.Identity) ([]operator.Span, error)
	Checks(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) (operator.Checks, error)
	Overview(ctx context.Context, id auth.Identity) (overview.Overview, error)
	TimesToReady(k catalog.Kind) overview.Times
	EndSessions(ctx context.Context, id auth.Identity, user string, dryRun bool) (cluster.Ended, error)
}

// Pages serves the pages of the platform.
type Pages struct {
	*page.Base
	cluster Cluster
}

// New returns the pages, which read from c.
func New(base *page.Base, c Cluster) *Pages { return &Pages{Base: base, cluster: c} }
