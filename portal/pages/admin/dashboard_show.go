package admin

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// batchLimit is how many claims, or quotas, are shown at a time.
const batchLimit = 50

// tabRequest is a request for a tab of the platform.
type tabRequest struct {
	id    auth.Identity
	frame views.Frame
	tab   string
	views.AdminQuery
}

func readRequest(r *http.Request, tab string) (tabRequest, error) {
	id, err := page.Caller(r)
	v := r.URL.Query()
	o := tabRequest{id: id, tab: cmp.Or(tab, views.AdminOverview), AdminQuery: views.AdminQuery{
		Search: page.Search(v), Gateway: v.Get("gateway"), Provider: v.Get("provider"), Service: v.Get("service"),
		Orphaned: v.Get("status") == views.OrphanedStatus, Broken: v.Get("status") == phase.NeedsYou.Slug(),
	}}
	o.Batch = page.Batch(v)
	if err == nil && !slices.Contains(views.AdminTabs(), o.tab) {
		err = page.ErrNoPage
	}
	return o, err
}

// dashboard shows the page of the platform.
func (p *Pages) dashboard(w http.ResponseWriter, r *http.Request) error {
	o, err := readRequest(r, chi.URLParam(r, "tab"))
	if err != nil {
		return err
	}
	if err := p.RequireAdmin(r.Context(), o.id); err != nil {
		return err
	}
	if o.frame, err = p.Frame(r, o.id, page.Space{}, "Admin"); err != nil {
		return err
	}
	o.frame.Section = views.AdminSection
	view, err := p.viewOf(r.Context(), o)
	if err != nil {
		return err
	}
	if r.Header.Get("HX-Request") == "true" {
		w.Header().Set("HX-Replace-Url", view.Href())
	}
	return p.Show(w, r, http.StatusOK, views.AdminPage(view))
}

// dashboardLive streams the same page.
func (p *Pages) dashboardLive(w http.ResponseWriter, r *http.Request) error {
	o, err := readRequest(r, r.URL.Query().Get("tab"))
	if err != nil {
		return err
	}
	if err := p.RequireAdmin(r.Context(), o.id); err != nil {
		return err
	}
	changed := page.Paced(r.Context(), p.Follow(r.Context(), p.concerns(o)))
	return p.Live(w, r, o.id, page.Live{
		Changed: page.Again(r.Context(), changed),
		Allowed: func(ctx context.Context) error { return p.RequireAdmin(ctx, o.id) },
		Render: func(ctx context.Context) ([]sse.Part, error) {
			view, err := p.viewOf(ctx, o)
			if err != nil {
				return nil, err
			}
			if o.tab == views.AdminOverview {
				return overviewParts(ctx, view)
			}
			return page.Parts(ctx, page.Replace("features", views.FeaturesPart(view)), page.Replace("platform", views.PlatformPart(view)))
		},
	})
}

// concerns tells changes that the tab shows.
func (p *Pages) concerns(o tabRequest) func(cluster.Change) bool {
	if o.tab == views.AdminOverview {
		return func(c cluster.Change) bool { return !c.Events && !c.Pods }
	}
	shown := map[string]bool{}
	for _, name := range []string{page.PoolKind, page.ClaimKind, page.GrantKind} {
		k, _ := p.cluster.Kinds().ByName(name)
		shown[k.Plural] = true
	}
	shown[cluster.Quotas] = true
	return func(c cluster.Change) bool { return !c.Events && !c.Pods && shown[c.Kind] }
}

// viewOf returns all that the tab says. Every look at it is refused to those who are no admins.
func (p *Pages) viewOf(ctx context.Context, o tabRequest) (views.Admin, error) {
	view := views.Admin{Frame: o.frame, Tab: o.tab, AdminQuery: o.AdminQuery}
	if err := p.RequireAdmin(ctx, o.id); err != nil {
		return view, err
	}
	features, err := p.cluster.Features(ctx, o.id)
	if err != nil {
		return view, err
	}
	view.Unknown = !features.Known
	if since := p.Outage(); !since.IsZero() {
		view.SignInAway = views.Moment{At: since, Now: p.Now()}.Age()
	}
	for _, f := range features.Items {
		if !f.On {
			view.Off = append(view.Off, views.Feature{Name: featureName(f.Name), Why: humanize.Sentence(f.Why)})
		}
	}
	switch o.tab {
	case views.AdminOverview:
		return view, p.addOverview(ctx, o, &view.Overview)
	case views.AdminClaims:
		return view, p.addClaims(ctx, o, &view)
	case views.AdminGrants:
		return view, p.addGrants(ctx, o, &view)
	case views.AdminQuotas:
		return view, p.addAllQuotas(ctx, o, &view)
	case views.AdminCalls:
		work, err := p.cluster.Controllers(ctx, o.id)
		if err != nil {
			return view, err
		}
		return view, p.addServices(ctx, o, work, &view.Work)
	}
	return view, p.addPool(ctx, o, &view)
}

func featureName(name string) string {
	if name == operatorapi.FeatureHostnames {
		return "Hostnames"
	}
	return name
}

// overseen reads all objects of a kind that the caller may list. hidden says that the caller may not list them all.
func (p *Pages) overseen(ctx context.Context, id auth.Identity, name string) (all []*unstructured.Unstructured, hidden bool, err error) {
	k, ok := p.cluster.Kinds().ByName(name)
	if !ok {
		return nil, false, nil
	}
	may, err := p.cluster.Can(ctx, id, "list", k, "")
	if err != nil {
		return nil, false, err
	}
	all, err = p.cluster.List(ctx, id, k, "")
	if page.Unseen(err) {
		err = nil
	}
	return all, !may, err
}

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

// hostnameUse is what the hostnames of a Gateway are called where it is told how full it is.
const hostnameUse = "Hostnames"

func (p *Pages) gatewayOf(obj *unstructured.Unstructured, g *v1alpha1.PoolGateway) views.Gateway {
	out := views.Gateway{
		Resource: p.ResourceNamed(page.PoolKind, obj), Class: g.Spec.GatewayClass, Visibility: string(g.Spec.Visibility),
		Place: g.Spec.AccountID + ", " + g.Spec.Region,
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

// batchOf returns those of all that are in the batch asked for.
func batchOf[T any](view *views.Admin, all []T) []T {
	view.Matches = len(all)
	shown := listing.BatchOf(len(all), batchLimit, view.Batch)
	view.Batch, view.Batches = shown.Number, shown.Count
	return all[shown.From:shown.To]
}

func (p *Pages) addGrants(ctx context.Context, o tabRequest, view *views.Admin) error {
	all, hidden, err := p.overseen(ctx, o.id, page.GrantKind)
	view.Hidden = hidden
	for _, obj := range all {
		g := &v1alpha1.HostnameGrant{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, g); err != nil {
			return err
		}
		view.Grants = append(view.Grants, views.Grant{
			Resource: p.ResourceNamed(page.GrantKind, obj), Team: g.Namespace, Suffixes: strings.Join(g.Spec.Suffixes, ", "), Wildcards: g.Spec.Wildcards,
			Limits: availability.Limits(g.Spec), InUse: g.Status.InUse, Hostnames: int(g.Status.Hostnames),
		})
	}
	return err
}
