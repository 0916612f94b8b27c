package request

import (
	"context"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// offers reads what the inputs of a form offer.
func (p *Pages) offers(ctx context.Context, f formRequest) (form.Offers, error) {
	offers, err := p.ofTheTeam(ctx, f)
	if err != nil {
		return offers, err
	}
	if offers.Choices, err = p.choices(ctx, f.id, f.space, slices.Concat(f.kind.Refers, f.kind.LetsIn)); err != nil {
		return offers, err
	}
	if f.kind.ID() == page.TeamKind {
		offers.Regions, err = p.regions(ctx, f.id)
	}
	if err != nil || !page.IsHostname(f.kind) {
		return offers, err
	}
	if offers.Grant, err = p.Cluster.Hostnames.Grant(ctx, f.id, f.space.Namespace); err != nil {
		return offers, err
	}
	offers.Zones, err = p.Cluster.Hostnames.Zones(ctx, f.id, f.space.Namespace)
	return offers, err
}

// ofTheTeam returns what the team of a namespace can use, and its defaults.
func (p *Pages) ofTheTeam(ctx context.Context, f formRequest) (offers form.Offers, err error) {
	if !f.kind.Namespaced {
		return offers, nil
	}
	open, err := p.Cluster.Teams.Providers(ctx, f.id, f.kind, f.space.Namespace)
	if err != nil {
		return offers, err
	}
	for _, o := range open {
		offers.Providers = append(offers.Providers, form.Provider{
			Name: o.Name, Region: o.Region, AccountID: o.AccountID, Ready: o.Ready,
			Regions: o.Regions(), Guardrails: o.Guardrails,
		})
	}
	if offers.Guardrails, err = p.Cluster.Teams.Guardrails(ctx, f.id, f.kind, f.space.Namespace); err != nil {
		return offers, err
	}
	offers.Defaults, err = p.Cluster.Teams.Defaults(ctx, f.id, f.kind, f.space.Namespace)
	return offers, err
}

// choices returns the objects to which the fields of a form can refer.
func (p *Pages) choices(ctx context.Context, id auth.Identity, s page.Space, refs []catalog.Reference) (
	form.Choices, error,
) {
	all := form.Choices{}
	for _, r := range refs {
		for _, name := range r.Kinds {
			k, ok := s.Kinds.ByName(name)
			if _, done := all[name]; done || !ok {
				continue
			}
			one, err := p.choosable(ctx, id, s, k)
			if err != nil {
				return nil, err
			}
			all[name] = one
		}
	}
	return all, nil
}

func (p *Pages) choosable(ctx context.Context, id auth.Identity, s page.Space, k catalog.Kind) (form.Choosable, error) {
	c := form.Choosable{Title: k.Title}
	may, err := p.Cluster.Rights.Can(ctx, id, "create", k, s.Namespace)
	if err != nil {
		return c, err
	}
	if may {
		c.Request = views.RequestPath(s.Team.ID, k.Plural)
	}
	list, err := p.Cluster.Objects.List(ctx, id, k, s.Namespace)
	if page.Unseen(err) {
		c.Unseen = true
		return c, nil
	}
	for _, o := range list {
		label := o.GetName()
		switch k.Name {
		case page.HostnameKind:
			label += ", " + catalog.TextAt(o, "spec", "hostname")
		case page.ProviderKind:
			label = joined(label, catalog.TextAt(o, "spec", "region"), catalog.TextAt(o, "status", "accountID"))
		}
		if is, _ := status.PhaseIn(k, o); is != phase.Ready {
			label += " (" + strings.ToLower(string(is)) + ")"
		}
		c.Options = append(c.Options, views.Option{Value: o.GetName(), Label: label})
	}
	return c, err
}
