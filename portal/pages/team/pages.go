// Package team serves the page of a Team: its members, what it has and how much of it is used. Members see the page of
// their own Team; its content depends on their rights.
package team

import (
	"context"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// Cluster is the part of cluster.Cluster that these pages need; see there for the contracts.
type Cluster interface {
	Kinds() catalog.Catalog
	Can(ctx context.Context, id auth.Identity, verb string, k catalog.Kind, namespace string) (bool, error)
	CanOne(ctx context.Context, id auth.Identity, verb string, ref cluster.Ref) (bool, error)
	Get(ctx context.Context, id auth.Identity, ref cluster.Ref) (*unstructured.Unstructured, error)
	Current(ctx context.Context, id auth.Identity, ref cluster.Ref) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, id auth.Identity, ref cluster.Ref, with map[string]any, etag string, dryRun bool) (
		cluster.Result, error)
	Overview(ctx context.Context, id auth.Identity) (overview.Overview, error)
	Quotas(ctx context.Context, id auth.Identity, namespace string) ([]cluster.Quota, error)
}

// Pages serves the pages of Teams.
type Pages struct {
	*page.Base
	cluster Cluster
}

// New returns the pages, which read from c.
func New(base *page.Base, c Cluster) *Pages { return &Pages{Base: base, cluster: c} }

// Routes adds the pages to r.
func (p *Pages) Routes(r chi.Router) {
	r.Route(views.OwnerPath("")+"{name}", func(r chi.Router) {
		r.Get("/", p.Handler(p.show))
		r.Get("/live", p.Handler(p.live))
		r.Get("/members", p.Handler(p.back)) // the URL on which a refused form was shown
		r.Post("/members", p.Handler(p.members))
		r.Get("/suspend", p.Handler(p.suspendAsk))
		r.Post("/suspend", p.Handler(p.suspend))
	})
}
