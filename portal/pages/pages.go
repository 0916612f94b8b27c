// Package pages serves the portal's HTML: every page works with plain links and forms, and portal/sse updates open
// pages. It makes no access decisions: each read and write goes through the cluster for the caller.
package pages

import (
	"context"
	"log/slog"
	"time"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/pages/admin"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/pages/request"
	"github.com/portico-platform/portico/portal/pages/resource"
	"github.com/portico-platform/portico/portal/pages/secrets"
	"github.com/portico-platform/portico/portal/pages/team"
)

// Pages serves the HTML side of the portal.
type Pages struct {
	*page.Base
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
func New(c *cluster.Cluster, reach Reach, log *slog.Logger) *Pages {
	base := page.New(c, log)
	base.Names.Prefix = reach.Prefix
	return &Pages{
		Base: base, reach: reach,
		admin: admin.New(base), team: team.New(base, reach.Portal), request: request.New(base, reach.Portal),
		resource: resource.New(base, reach.Portal), secrets: secrets.New(base),
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
