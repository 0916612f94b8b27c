// Package pages serves the portal's HTML: every page works with plain links and forms, and portal/sse updates open
// pages. It makes no access decisions: each read and write goes through the cluster for the caller.
package pages

import (
	"context"
	"log/slog"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/admin"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/pages/request"
	"github.com/portico-platform/portico/portal/pages/resource"
	"github.com/portico-platform/portico/portal/pages/secrets"
	"github.com/portico-platform/portico/portal/pages/team"
)

// Cluster is the part of cluster.Cluster that all pages together need. Each package declares its own part.
type Cluster interface {
	page.Cluster
	admin.Cluster
	request.Cluster
	resource.Cluster
	secrets.Cluster
	team.Cluster
	TeamReader
}

// TeamReader reads the data of the pages about teams, for a caller, after checking access.
type TeamReader interface {
	listing.Cluster
	Unlisted(ctx context.Context, id auth.Identity, namespaces []string) (map[string]catalog.Catalog, error)
	Providers(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) ([]cluster.Provider, error)
	HostnameGrant(ctx context.Context, id auth.Identity, namespace string) (*v1alpha1.HostnameGrantSpec, error)
	Quotas(ctx context.Context, id auth.Identity, namespace string) ([]cluster.Quota, error)
	Members(ctx context.Context, id auth.Identity, namespace string) ([]cluster.Member, error)
	Overview(ctx context.Context, id auth.Identity) (overview.Overview, error)
	TimesToReady(k catalog.Kind) overview.Times
}

// SecretRights returns what a caller can do with Secrets.
type SecretRights interface {
	MayValues(ctx context.Context, id auth.Identity, verb, namespace, name string) (bool, error)
}

// teamCluster is the part that the pages about teams need.
type teamCluster interface {
	page.Cluster
	SecretRights
	TeamReader
}

// Pages serves the HTML side of the portal.
type Pages struct {
	*page.Base
	cluster  teamCluster
	reach    Reach
	admin    *admin.Pages
	team     *team.Pages
	request  *request.Pages
	resource *resource.Pages
	secrets  *secrets.Pages
}

// Reach has the addresses that users copy from pages.
type Reach struct {
	// Portal is the portal's scheme and host. It is not taken from a request's Host header.
	Portal string
	// Kubernetes is the URL of the API server for users; "" if unknown.
	Kubernetes string
	// Prefix precedes users and groups in Kubernetes.
	Prefix string
	// CLI returns how command-line tools sign in; nil hides it.
	CLI func(context.Context) auth.CLI
}

func (r Reach) cli(ctx context.Context) auth.CLI {
	if r.CLI == nil {
		return auth.CLI{}
	}
	return r.CLI(ctx)
}

// New returns the pages, which read from c.
func New(c Cluster, reach Reach, log *slog.Logger) *Pages {
	base := page.New(c, log)
	base.Names.Prefix = reach.Prefix
	return &Pages{
		Base: base, cluster: c, reach: reach,
		admin: admin.New(base, c), team: team.New(base, c), request: request.New(base, c, reach.Portal),
		resource: resource.New(base, c, reach.Portal),
		secrets:  secrets.New(base, c),
	}
}

// Watching makes the pages show an outage of the identity provider: outage returns since when it lasts, or the zero
// time.
func (p *Pages) Watching(outage func() time.Time) *Pages {
	p.Outage = outage
	return p
}

// Naming makes the pages show display names of groups, by their names in Kubernetes, beside the identity provider's
// names.
func (p *Pages) Naming(groups map[string]string) *Pages {
	p.Names.Groups = groups
	return p
}
