package resource

import (
	"slices"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

// rightsOfDetail returns those that the page of an object asks for.
func (p *Pages) rightsOfDetail(l objectRequest) []cluster.Right {
	k, ns := l.ref.Kind, l.space.Namespace
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
