package admin

import (
	"cmp"
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

const (
	// maxUsers is the number of teams on a provider's card.
	maxUsers = 4
	// maxQuotas is the number of quotas in the overview: the fullest.
	maxQuotas = 8
)

func isGone(err error) bool { return apierrors.IsNotFound(err) }

func (p *Pages) addProviders(ctx context.Context, o tabRequest, view *views.Overview) error {
	all, hidden, err := p.overseen(ctx, o.id, page.ProviderKind)
	if view.ProvidersHidden = hidden; hidden || err != nil {
		return err
	}
	use, err := p.providerUse(ctx, o)
	if err != nil {
		return err
	}
	for _, obj := range all {
		row := views.ProviderUse{
			Resource: p.ResourceNamed(page.ProviderKind, obj), Region: catalog.TextAt(obj, "spec", "region"),
			Account:  cmp.Or(catalog.TextAt(obj, "status", "accountID"), catalog.TextAt(obj, "spec", "accountID")),
			Identity: catalog.TextAt(obj, "status", "callerIdentity"),
		}
		checks, err := p.Cluster.Operator.Checks(ctx, o.id, obj)
		if err != nil && !page.Unseen(err) {
			return err
		}
		if checks.State == operator.Checked {
			row.Checked = views.Moment{At: checks.LastChecked, Now: p.Now()}
		}
		addUsers(&row, obj.GetName(), use[obj.GetName()])
		view.Providers = append(view.Providers, row)
	}
	return nil
}

// usage counts the users of a provider: resources by team, and load balancers of the pool.
type usage struct {
	teams map[string]int
	pool  int
}

// providerUse returns the usage by provider, of resources that the caller can list.
func (p *Pages) providerUse(ctx context.Context, o tabRequest) (map[string]*usage, error) {
	use := map[string]*usage{}
	for _, k := range p.Cluster.Kinds.Now() {
		if !k.Namespaced || !k.Has("providerRef") {
			continue
		}
		rows, err := p.Cluster.Objects.Rows(ctx, o.id, k, "")
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			u := use[row.Provider]
			if u == nil {
				u = &usage{teams: map[string]int{}}
				use[row.Provider] = u
			}
			if k.KeptBy != "" {
				u.pool++
			} else {
				u.teams[row.Namespace]++
			}
		}
	}
	return use, nil
}

// addUsers adds the teams with the most resources of a provider, and the total number of resources.
func addUsers(row *views.ProviderUse, provider string, use *usage) {
	if use == nil {
		return
	}
	names := slices.SortedFunc(maps.Keys(use.teams), func(a, b string) int {
		return cmp.Or(cmp.Compare(use.teams[b], use.teams[a]), cmp.Compare(a, b))
	})
	total := 0
	for i, name := range names {
		total += use.teams[name]
		if i < maxUsers {
			row.Teams = append(row.Teams, views.Choice{
				Value: views.ListPath(views.Query{Team: name, Provider: provider}),
				Label: views.Tally(name, use.teams[name]),
			})
		}
	}
	if total > 0 {
		row.Users = views.Choice{
			Value: views.ListPath(views.Query{Provider: provider}),
			Label: views.Plural(total, "resource"),
		}
	}
	if len(names) > maxUsers {
		row.Others = views.ListPath(views.Query{Provider: provider, Sort: views.SortTeam})
	}
	if use.pool > 0 {
		row.Pool = views.Choice{
			Value: views.AdminHref(views.AdminPool, views.AdminQuery{Provider: provider}),
			Label: views.Plural(use.pool, "load balancer"),
		}
	}
}

func (p *Pages) addShared(ctx context.Context, o tabRequest, view *views.Overview) error {
	var pool, claims views.Admin
	if err := p.addPool(ctx, tabRequest{id: o.id}, &pool); err != nil {
		return err
	}
	if err := p.addClaims(ctx, tabRequest{id: o.id}, &claims); err != nil {
		return err
	}
	s := views.Shared{
		Gateways: pool.Total, Claims: claims.Total, Orphaned: claims.OrphanedTotal,
		PoolHidden: pool.Hidden, Hidden: claims.Hidden,
	}
	sum := map[string]views.Use{}
	for _, g := range pool.Gateways {
		if g.Resource.Phase == phase.NeedsYou {
			s.Broken++
		}
		for _, u := range g.Use {
			sum[u.Of] = views.Use{Of: u.Of, N: sum[u.Of].N + u.N, Most: sum[u.Of].Most + u.Most}
		}
	}
	for _, of := range []string{hostnameUse, "Rules", "Target groups"} {
		if len(pool.Gateways) == 0 {
			break
		}
		u := sum[of]
		if of == hostnameUse {
			u.Href = views.AdminHref(views.AdminClaims, views.AdminQuery{})
		}
		s.Use = append(s.Use, u)
	}
	view.Shared = s
	return nil
}

// addQuotas adds the fullest quotas.
func (p *Pages) addQuotas(ctx context.Context, o tabRequest, view *views.Overview) error {
	uses, err := p.fullestQuotas(ctx, o)
	view.Quotas = views.QuotaUses{Uses: uses[:min(maxQuotas, len(uses))], Total: len(uses)}
	return page.Hiding(&view.Quotas.Hidden, err)
}

// fullestQuotas returns the quotas of all teams, fullest first.
func (p *Pages) fullestQuotas(ctx context.Context, o tabRequest) ([]views.QuotaUse, error) {
	all, err := p.Cluster.Teams.Quotas(ctx, o.id, "")
	uses := p.QuotaUses(all)
	slices.SortStableFunc(uses, func(a, b views.QuotaUse) int { return cmp.Compare(b.Percent, a.Percent) })
	return uses, err
}

// addAllQuotas adds a page of all quotas.
func (p *Pages) addAllQuotas(ctx context.Context, o tabRequest, view *views.Admin) error {
	uses, err := p.fullestQuotas(ctx, o)
	view.Total = len(uses)
	view.Quotas.Uses = batchOf(view, uses)
	return page.Hiding(&view.Quotas.Hidden, err)
}
