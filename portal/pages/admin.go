package pages

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/inspect"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// The kinds of the admin pages.
const (
	poolKind  = "PoolGateway"
	claimKind = "DomainClaim"
	grantKind = "HostnameGrant"
)

// onAdminPage is how many claims, or quotas, a page shows.
const onAdminPage = 50

// isAdmin tells those who look after the platform: they may list claims, which belong to no team.
func (p *Pages) isAdmin(ctx context.Context, id auth.Identity) (bool, error) {
	k, ok := p.cluster.Kinds().ByName(claimKind)
	if !ok {
		return false, nil
	}
	return p.cluster.Can(ctx, id, "list", k, "")
}

// overseeing is a look at the platform.
type overseeing struct {
	id    auth.Identity
	frame views.Frame
	tab   string
	views.AdminQuery
}

func overseeingOf(r *http.Request, tab string) (overseeing, error) {
	id, err := caller(r)
	v := r.URL.Query()
	o := overseeing{id: id, tab: cmp.Or(tab, views.AdminOverview), AdminQuery: views.AdminQuery{
		Search: strings.TrimSpace(v.Get("q")), Gateway: v.Get("gateway"), Provider: v.Get("provider"), Service: v.Get("service"),
		Orphaned: v.Get("status") == views.OrphanedStatus, Broken: v.Get("status") == phase.NeedsYou.Slug(),
	}}
	o.Page, _ = strconv.Atoi(v.Get("page")) // what is no number is the first page
	if len(o.Search) > 200 {
		o.Search = o.Search[:200]
	}
	if err == nil && !slices.Contains(views.AdminTabs(), o.tab) {
		err = errNoPage
	}
	return o, err
}

func (p *Pages) requireAdmin(ctx context.Context, id auth.Identity) error {
	may, err := p.isAdmin(ctx, id)
	if err == nil && !may {
		err = &cluster.ForbiddenError{Verb: "list", Resource: "domainclaims"}
	}
	return err
}

// admin is the page of the platform.
func (p *Pages) admin(w http.ResponseWriter, r *http.Request) error {
	o, err := overseeingOf(r, chi.URLParam(r, "tab"))
	if err != nil {
		return err
	}
	if err := p.requireAdmin(r.Context(), o.id); err != nil {
		return err
	}
	if o.frame, err = p.frame(r, o.id, space{}, "Admin"); err != nil {
		return err
	}
	o.frame.Section = views.AdminSection
	view, err := p.adminOf(r.Context(), o)
	if err != nil {
		return err
	}
	if r.Header.Get("HX-Request") == "true" {
		w.Header().Set("HX-Replace-Url", view.Href())
	}
	return p.show(w, r, http.StatusOK, views.AdminPage(view))
}

// adminLive streams the same page.
func (p *Pages) adminLive(w http.ResponseWriter, r *http.Request) error {
	o, err := overseeingOf(r, r.URL.Query().Get("tab"))
	if err != nil {
		return err
	}
	if err := p.requireAdmin(r.Context(), o.id); err != nil {
		return err
	}
	changed := paced(r.Context(), p.follow(r.Context(), p.concerns(o)))
	return p.streams.Serve(w, r, o.id.Username, live.Source{
		Changed: again(r.Context(), changed), Alive: p.alive,
		Allowed: func(ctx context.Context) error { return p.requireAdmin(ctx, o.id) },
		Render: func(ctx context.Context) ([]live.Part, error) {
			view, err := p.adminOf(ctx, o)
			if err != nil {
				return nil, err
			}
			if o.tab == views.AdminOverview {
				return overviewParts(ctx, view)
			}
			return parts(ctx, part{"features", views.FeaturesPart(view)}, part{"platform", views.PlatformPart(view)})
		},
	})
}

// concerns tells changes that the tab shows.
func (p *Pages) concerns(o overseeing) func(cluster.Change) bool {
	if o.tab == views.AdminOverview {
		return func(c cluster.Change) bool { return !c.Events && !c.Pods }
	}
	shown := map[string]bool{}
	for _, name := range []string{poolKind, claimKind, grantKind} {
		k, _ := p.cluster.Kinds().ByName(name)
		shown[k.Plural] = true
	}
	shown[cluster.Quotas] = true
	return func(c cluster.Change) bool { return !c.Events && !c.Pods && shown[c.Kind] }
}

// adminOf is all that the tab says. Every look at it is refused to those who are no admins.
func (p *Pages) adminOf(ctx context.Context, o overseeing) (views.Admin, error) {
	view := views.Admin{Frame: o.frame, Tab: o.tab, AdminQuery: o.AdminQuery}
	if err := p.requireAdmin(ctx, o.id); err != nil {
		return view, err
	}
	features, err := p.cluster.Features(ctx, o.id)
	if err != nil {
		return view, err
	}
	view.Unknown = !features.Known
	if since := p.outage(); !since.IsZero() {
		view.SignInAway = views.Moment{At: since, Now: p.now()}.Age()
	}
	for _, f := range features.Items {
		if !f.On {
			view.Off = append(view.Off, views.Feature{Name: featureName(f.Name), Why: prose.Sentence(f.Why)})
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
	if name == inspect.FeatureHostnames {
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
	if unseen(err) {
		err = nil
	}
	return all, !may, err
}

// resourceNamed is what pages say of an object of the kind, wherever it is.
func (p *Pages) resourceNamed(kind string, obj *unstructured.Unstructured) views.Resource {
	k, _ := p.cluster.Kinds().ByName(kind)
	return resourceOf(p.spaceNamed(cmp.Or(obj.GetNamespace(), platformTeam)), k, obj, p.now())
}

func (p *Pages) addPool(ctx context.Context, o overseeing, view *views.Admin) error {
	all, hidden, err := p.overseen(ctx, o.id, poolKind)
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
		Resource: p.resourceNamed(poolKind, obj), Class: g.Spec.GatewayClass, Visibility: string(g.Spec.Visibility),
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

// pageOf are those of all that the page shows. A page beyond the end becomes the last one.
func pageOf[T any](view *views.Admin, all []T) []T {
	view.Matches = len(all)
	view.Pages = max(1, (len(all)+onAdminPage-1)/onAdminPage)
	view.Page = min(max(1, view.Page), view.Pages)
	from := (view.Page - 1) * onAdminPage
	return all[from:min(from+onAdminPage, len(all))]
}

func (p *Pages) addGrants(ctx context.Context, o overseeing, view *views.Admin) error {
	all, hidden, err := p.overseen(ctx, o.id, grantKind)
	view.Hidden = hidden
	for _, obj := range all {
		g := &v1alpha1.HostnameGrant{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, g); err != nil {
			return err
		}
		view.Grants = append(view.Grants, views.Grant{
			Resource: p.resourceNamed(grantKind, obj), Team: g.Namespace, Suffixes: strings.Join(g.Spec.Suffixes, ", "), Wildcards: g.Spec.Wildcards,
			Limits: grantLimits(g.Spec), InUse: g.Status.InUse, Hostnames: int(g.Status.Hostnames),
		})
	}
	return err
}

// grantLimits are what a grant allows only some of.
func grantLimits(g v1alpha1.HostnameGrantSpec) []string {
	var all []string
	for _, l := range []struct {
		of  string
		are []string
	}{{"zones", texts(g.Zones)}, {"visibility", texts(g.Visibilities)}, {"environments", texts(g.Environments)}} {
		if len(l.are) > 0 {
			all = append(all, l.of+" "+strings.Join(l.are, ", "))
		}
	}
	return all
}
