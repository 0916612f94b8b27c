package admin

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

func (p *Pages) addClaims(ctx context.Context, o tabRequest, view *views.Admin) error {
	all, hidden, err := p.overseen(ctx, o.id, page.ClaimKind)
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
		if humanize.HasWords(o.Search, c.Hostname+" "+c.Holder.Label+" "+c.Gateway.Label) {
			view.Claims = append(view.Claims, c)
		}
	}
	slices.SortFunc(view.Claims, func(a, b views.Claim) int {
		return cmp.Or(cmp.Compare(a.Hostname, b.Hostname), cmp.Compare(a.Visibility, b.Visibility),
			cmp.Compare(a.Resource.Name, b.Resource.Name))
	})
	view.Claims = batchOf(view, view.Claims)
	return nil
}

// gatewayLinks returns the pages of the Gateways that the caller can see, by name.
func (p *Pages) gatewayLinks(ctx context.Context, o tabRequest) (map[string]string, error) {
	all, _, err := p.overseen(ctx, o.id, page.PoolKind)
	links := map[string]string{}
	for _, obj := range all {
		links[obj.GetName()] = p.ResourceNamed(page.PoolKind, obj).Href
	}
	return links, err
}

func (p *Pages) claimOf(obj *unstructured.Unstructured, gateways map[string]string) views.Claim {
	gateway := catalog.TextAt(obj, "spec", "gateway")
	f := status.FactsOf(obj)
	c := views.Claim{
		Resource: p.ResourceNamed(page.ClaimKind, obj), Hostname: catalog.TextAt(obj, "spec", "hostname"),
		Visibility: catalog.TextAt(obj, "spec", "visibility"),
		Holder: p.HolderLink(availability.Holder{
			Namespace: catalog.TextAt(obj, "spec", "holder", "namespace"),
			Name:      catalog.TextAt(obj, "spec", "holder", "name"),
		}),
		Gateway: views.Choice{Value: gateways[gateway], Label: gateway}, Look: claimLook(f),
	}
	if orphaned(f) {
		c.Holder.Value = ""
	}
	return c
}

// orphaned reports whether the holder of a claim no longer exists.
func orphaned(f status.Facts) bool {
	return f.Condition(v1alpha1.ConditionReady).Reason == "HolderGone"
}

// orphanedWord is the status text of an orphaned claim.
const orphanedWord = "Orphaned"

// claimLook returns the look of a claim, by whether its holder exists.
func claimLook(f status.Facts) views.Look {
	ready := f.Condition(v1alpha1.ConditionReady)
	switch {
	case orphaned(f):
		return views.Look{Word: orphanedWord, Icon: "alert", Tone: "bad", Text: humanize.Sentence(ready.Message)}
	case f.Deleting && ready.Reason == "Held":
		return views.Look{Word: "Held", Icon: "alert", Tone: "warn", Text: humanize.Sentence(ready.Message)}
	case f.Deleting:
		return views.Look{Word: "Being given back", Icon: "bin", Tone: "idle"}
	case f.Observed < 0:
		return views.Look{Word: "New", Icon: "spin", Tone: "busy"}
	case ready.True():
		return views.Look{Word: "Held", Icon: "check", Tone: "good"}
	}
	return views.Look{Word: "Not known", Icon: "wait", Tone: "idle", Text: humanize.Sentence(ready.Message)}
}
