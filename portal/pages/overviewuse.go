package pages

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/web/views"
)

const (
	providerKind = "AWSProvider"
	// maxUsers is how many teams the card of a provider names.
	maxUsers = 4
	// maxQuotas is how many quotas the overview shows: the fullest.
	maxQuotas = 8
)

func isGone(err error) bool { return apierrors.IsNotFound(err) }

func (p *Pages) addProviders(ctx context.Context, o overseeing, view *views.Overview) error {
	all, hidden, err := p.overseen(ctx, o.id, providerKind)
	if view.ProvidersHidden = hidden; hidden || err != nil {
		return err
	}
	use, err := p.providerUse(ctx, o)
	if err != nil {
		return err
	}
	for _, obj := range all {
		row := views.ProviderUse{
			Resource: p.resourceNamed(providerKind, obj), Region: nested(obj, "spec", "region"),
			Account:  cmp.Or(nested(obj, "status", "accountID"), nested(obj, "spec", "accountID")),
			Identity: nested(obj, "status", "callerIdentity"),
		}
		checks, err := p.cluster.Checks(ctx, o.id, obj)
		if err != nil && !unseen(err) {
			return err
		}
		if checks.State == operator.Checked {
			row.Checked = views.Moment{At: checks.LastChecked, Now: p.now()}
		}
		addUsers(&row, obj.GetName(), use[obj.GetName()])
		view.Providers = append(view.Providers, row)
	}
	return nil
}

// usage counts what uses a provider: the resources by team, and the load balancers of the pool.
type usage struct {
	teams map[string]int
	pool  int
}

// providerUse counts what the caller may list of all that uses a provider, by provider.
func (p *Pages) providerUse(ctx context.Context, o overseeing) (map[string]*usage, error) {
	use := map[string]*usage{}
	for _, k := range p.cluster.Kinds() {
		if !k.Namespaced || !k.Has("providerRef") {
			continue
		}
		rows, err := p.cluster.Rows(ctx, o.id, k, "")
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

// addUsers names the teams that use a provider the most, and how many resources there are in all.
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
				Value: views.ListPath(views.Query{Team: name, Provider: provider}), Label: views.Tally(name, use.teams[name]),
			})
		}
	}
	if total > 0 {
		row.Users = views.Choice{Value: views.ListPath(views.Query{Provider: provider}), Label: views.Plural(total, "resource")}
	}
	if len(names) > maxUsers {
		row.Others = views.ListPath(views.Query{Provider: provider, Sort: views.SortTeam})
	}
	if use.pool > 0 {
		row.Pool = views.Choice{
			Value: views.AdminHref(views.AdminPool, views.AdminQuery{Provider: provider}), Label: views.Plural(use.pool, "load balancer"),
		}
	}
}

func (p *Pages) addShared(ctx context.Context, o overseeing, view *views.Overview) error {
	var pool, claims views.Admin
	if err := p.addPool(ctx, overseeing{id: o.id}, &pool); err != nil {
		return err
	}
	if err := p.addClaims(ctx, overseeing{id: o.id}, &claims); err != nil {
		return err
	}
	s := views.Shared{Gateways: pool.Total, Claims: claims.Total, Orphaned: claims.OrphanedTotal, PoolHidden: pool.Hidden, Hidden: claims.Hidden}
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
func (p *Pages) addQuotas(ctx context.Context, o overseeing, view *views.Overview) error {
	uses, err := p.fullestQuotas(ctx, o)
	view.Quotas = views.QuotaUses{Uses: uses[:min(maxQuotas, len(uses))], Total: len(uses)}
	return hiding(&view.Quotas.Hidden, err)
}

// fullestQuotas are those of all teams.
func (p *Pages) fullestQuotas(ctx context.Context, o overseeing) ([]views.QuotaUse, error) {
	all, err := p.cluster.Quotas(ctx, o.id, "")
	uses := p.quotaUses(all)
	slices.SortStableFunc(uses, func(a, b views.QuotaUse) int { return cmp.Compare(b.Percent, a.Percent) })
	return uses, err
}

// addAllQuotas adds a page of them.
func (p *Pages) addAllQuotas(ctx context.Context, o overseeing, view *views.Admin) error {
	uses, err := p.fullestQuotas(ctx, o)
	view.Total = len(uses)
	view.Quotas.Uses = pageOf(view, uses)
	return hiding(&view.Quotas.Hidden, err)
}

// quotaUses are quotas as bars, in the order given.
func (p *Pages) quotaUses(all []cluster.Quota) []views.QuotaUse {
	var out []views.QuotaUse
	for _, q := range all {
		u := views.QuotaUse{
			ID: "quota-" + q.Namespace + "-" + elementID(q.Name) + "-" + slug(q.Of), Of: p.quotaOf(q),
			Team: views.Choice{Value: views.AboutPath(q.Namespace), Label: q.Namespace}, Known: q.Known, Full: q.Full(), Words: "not counted yet, " + q.Hard.String() + " allowed",
		}
		if q.Known {
			u.Words = q.Used.String() + " of " + q.Hard.String()
			u.Percent = shareOf(q)
		}
		if u.Full {
			u.Words += ", full"
		}
		out = append(out, u)
	}
	return out
}

// slug makes a name fit for an id attribute.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// shareOf is how much of a quota is used, in percent; 100 at most, and of what allows nothing.
func shareOf(q cluster.Quota) int {
	hard := q.Hard.AsApproximateFloat64()
	if hard <= 0 {
		return 100
	}
	return int(min(100, q.Used.AsApproximateFloat64()/hard*100))
}

// countQuota is what Kubernetes calls the quota of a number of objects of a kind.
func countQuota(plural string) string { return "count/" + plural + "." + v1alpha1.GroupVersion.Group }

// quotaOf says what a quota is of, and where it counts one of ours leads to those.
func (p *Pages) quotaOf(q cluster.Quota) views.Choice {
	for _, k := range p.cluster.Kinds() {
		if countQuota(k.Plural) != q.Of {
			continue
		}
		if k.KeptBy != "" {
			return views.Choice{Label: k.Title}
		}
		return views.Choice{Value: views.TeamPath(q.Namespace) + views.Query{Kind: k.Plural}.Encode(), Label: k.Title}
	}
	return views.Choice{Label: q.Of}
}
