package pages

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

// ahead asks for what the frame of every page needs and for the rights given, all at once, before the page asks for one
// after the other. A right that is not among them is asked for when it is needed.
func (p *Pages) ahead(ctx context.Context, id auth.Identity, rights ...cluster.Right) {
	wide := slices.Concat(p.cluster.Kinds().Requestable(), p.spaceNamed(platformTeam).kinds)
	if k, ok := p.cluster.Kinds().ByName(claimKind); ok {
		wide = append(wide, k)
	}
	p.cluster.Ahead(ctx, id, append(cluster.RightsTo("list", wide, ""), rights...)...)
}

// rightsOfDetail are those that the page of an object asks for.
func (p *Pages) rightsOfDetail(l looking) []cluster.Right {
	k, ns := l.ref.Kind, l.space.namespace
	out := []cluster.Right{cluster.ListEvents.In(cluster.EventsIn(ns))}
	for _, verb := range []string{"get", "patch", "update", "create", "delete"} {
		out = append(out, cluster.RightTo(verb, k, ns))
	}
	if isApp(k) {
		out = append(out, cluster.ListPods.In(ns), cluster.GetLogs.In(ns))
	}
	for _, other := range p.cluster.Kinds() {
		if refers(other, k) {
			out = append(out, cluster.RightTo("list", other, ns))
		}
	}
	return out
}

// refers tells whether objects of kind a may refer to some of kind b.
func refers(a, b catalog.Kind) bool {
	return slices.ContainsFunc(a.Refers, func(r catalog.Reference) bool { return slices.Contains(r.Kinds, b.Name) })
}
