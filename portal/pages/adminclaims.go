package pages

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

func (p *Pages) addClaims(ctx context.Context, o overseeing, view *views.Admin) error {
	all, hidden, err := p.overseen(ctx, o.id, claimKind)
	if err != nil {
		return err
	}
	gateways, err := p.gatewayLinks(ctx, o)
	if err != nil {
		return err
	}
	view.Hidden, view.Total = hidden, len(all)
	for _, obj := range all {
		c := p.claimOf(obj, gateways)
		if c.Look.Word == orphanedWord {
			view.OrphanedTotal++
		}
		if o.Orphaned && c.Look.Word != orphanedWord || o.Gateway != "" && o.Gateway != c.Gateway.Label {
			continue
		}
		if prose.HasWords(o.Search, c.Hostname+" "+c.Holder.Label+" "+c.Gateway.Label) {
			view.Claims = append(view.Claims, c)
		}
	}
	slices.SortFunc(view.Claims, func(a, b views.Claim) int {
		return cmp.Or(cmp.Compare(a.Hostname, b.Hostname), cmp.Compare(a.Visibility, b.Visibility), cmp.Compare(a.Resource.Name, b.Resource.Name))
	})
	view.Claims = pageOf(view, view.Claims)
	return nil
}

// gatewayLinks are the pages of the Gateways that the caller may see, by name.
func (p *Pages) gatewayLinks(ctx context.Context, o overseeing) (map[string]string, error) {
	all, _, err := p.overseen(ctx, o.id, poolKind)
	links := map[string]string{}
	for _, obj := range all {
		links[obj.GetName()] = p.resourceNamed(poolKind, obj).Href
	}
	return links, err
}

func (p *Pages) claimOf(obj *unstructured.Unstructured, gateways map[string]string) views.Claim {
	gateway := nested(obj, "spec", "gateway")
	f := phase.FactsOf(obj)
	c := views.Claim{
		Resource: p.resourceNamed(claimKind, obj), Hostname: nested(obj, "spec", "hostname"), Visibility: nested(obj, "spec", "visibility"),
		Holder: p.holderLink(availability.Holder{
			Namespace: nested(obj, "spec", "holder", "namespace"), Name: nested(obj, "spec", "holder", "name"),
		}),
		Gateway: views.Choice{Value: gateways[gateway], Label: gateway}, Look: claimLook(f),
	}
	if orphaned(f) {
		c.Holder.Value = ""
	}
	return c
}

// orphaned tells a claim whose holder is gone.
func orphaned(f phase.Facts) bool { return f.Condition(v1alpha1.ConditionReady).Reason == "HolderGone" }

// orphanedWord is what a claim is called that nobody holds any more.
const orphanedWord = "Orphaned"

// claimLook tells whether the holder is still there.
func claimLook(f phase.Facts) views.Look {
	ready := f.Condition(v1alpha1.ConditionReady)
	switch {
	case orphaned(f):
		return views.Look{Word: orphanedWord, Icon: "alert", Tone: "bad", Text: prose.Sentence(ready.Message)}
	case f.Deleting && ready.Reason == "Held":
		return views.Look{Word: "Held", Icon: "alert", Tone: "warn", Text: prose.Sentence(ready.Message)}
	case f.Deleting:
		return views.Look{Word: "Being given back", Icon: "bin", Tone: "idle"}
	case f.Observed < 0:
		return views.Look{Word: "New", Icon: "spin", Tone: "busy"}
	case ready.True():
		return views.Look{Word: "Held", Icon: "check", Tone: "good"}
	}
	return views.Look{Word: "Not known", Icon: "wait", Tone: "idle", Text: prose.Sentence(ready.Message)}
}
