package admin

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

func (p *Pages) addPool(ctx context.Context, o tabRequest, view *views.Admin) error {
	all, hidden, err := p.overseen(ctx, o.id, page.PoolKind)
	view.Hidden, view.Total = hidden, len(all)
	for _, obj := range all {
		g := &v1alpha1.PoolGateway{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, g); err != nil {
			return err
		}
		out := p.gatewayOf(obj, g)
		if o.Broken && out.Resource.Phase != phase.NeedsYou || o.Provider != "" && o.Provider != out.Resource.Provider {
			continue
		}
		view.Gateways = append(view.Gateways, out)
	}
	view.Matches = len(view.Gateways)
	return err
}

// hostnameUse is the label of a Gateway's number of hostnames, where its capacity is shown.
const hostnameUse = "Hostnames"

func (p *Pages) gatewayOf(obj *unstructured.Unstructured, g *v1alpha1.PoolGateway) views.Gateway {
	out := views.Gateway{
		Resource: p.ResourceNamed(page.PoolKind, obj), Class: g.Spec.GatewayClass,
		Visibility: string(g.Spec.Visibility),
		Place:      g.Spec.AccountID + ", " + g.Spec.Region,
		Use: []views.Use{
			{
				Of: hostnameUse, Href: views.AdminHref(views.AdminClaims, views.AdminQuery{Gateway: g.Name}),
				N: int(g.Status.Hostnames), Most: v1alpha1.PoolHostnames,
			},
			{Of: "Rules", N: int(g.Status.Rules), Most: v1alpha1.PoolRules},
			{Of: "Target groups", N: int(g.Status.TargetGroups), Most: v1alpha1.PoolTargetGroups},
		},
	}
	if lb := g.Status.LoadBalancer; lb != nil {
		out.Address = lb.DNSName
	}
	return out
}
