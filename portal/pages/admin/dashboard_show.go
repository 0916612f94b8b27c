package admin

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// dashboard shows the page of the platform.
func (p *Pages) dashboard(w http.ResponseWriter, r *http.Request) error {
	o, err := readRequest(r, chi.URLParam(r, "tab"))
	if err != nil {
		return err
	}
	if err := p.RequireAdmin(r.Context(), o.id); err != nil {
		return err
	}
	if o.frame, err = p.Frame(r, o.id, page.Space{}, views.AdminTitle(o.tab), "Admin"); err != nil {
		return err
	}
	o.frame.Section = views.AdminSection
	view, err := p.viewOf(r.Context(), o)
	if err != nil {
		return err
	}
	if view.MayEndSessions, err = p.Cluster.Sessions.MayEnd(r.Context(), o.id); err != nil {
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
			return page.Parts(ctx, page.Replace("features", views.FeaturesPart(view)),
				page.Replace("platform", views.PlatformPart(view)))
		},
	})
}

// concerns returns a function that reports whether a change affects the tab.
func (p *Pages) concerns(o tabRequest) func(feed.Change) bool {
	if o.tab == views.AdminOverview || o.tab == views.AdminTeams {
		return func(c feed.Change) bool { return !c.Events && !c.Pods }
	}
	if o.tab == views.AdminActivity {
		return func(c feed.Change) bool { return c.Activity }
	}
	shown := map[string]bool{}
	kinds := []string{page.PoolKind, page.ClaimKind, page.GrantKind}
	if o.tab == views.AdminRights {
		kinds = []string{page.ProviderKind, v1alpha1.KindAccessBinding}
	}
	for _, name := range kinds {
		k, _ := p.Cluster.Kinds.Now().ByName(name)
		shown[k.Plural] = true
	}
	shown[feed.Quotas] = true
	return func(c feed.Change) bool { return !c.Events && !c.Pods && shown[c.Kind] }
}

// viewOf returns the tab's content. A caller who is no admin gets a *ForbiddenError.
func (p *Pages) viewOf(ctx context.Context, o tabRequest) (views.Admin, error) {
	view := views.Admin{Frame: o.frame, Tab: o.tab, AdminQuery: o.AdminQuery}
	if err := p.RequireAdmin(ctx, o.id); err != nil {
		return view, err
	}
	features, err := p.Cluster.Operator.Features(ctx, o.id)
	if err != nil {
		return view, err
	}
	view.Unknown = !features.Known
	if since := p.Outage(); !since.IsZero() {
		view.SignInAway = views.Moment{At: since, Now: p.Now()}.Age()
	}
	for _, f := range features.Items {
		if !f.On && f.Name == operatorapi.FeatureHostnames { // an admin has switched the others off
			view.Off = append(view.Off, views.Feature{Name: featureName(f.Name), Why: humanize.Sentence(f.Why)})
		}
	}
	switch o.tab {
	case views.AdminOverview:
		return view, p.addOverview(ctx, o, &view.Overview)
	case views.AdminTeams:
		return view, p.addOwners(ctx, o, &view)
	case views.AdminClaims:
		return view, p.addClaims(ctx, o, &view)
	case views.AdminGrants:
		return view, p.addGrants(ctx, o, &view)
	case views.AdminQuotas:
		return view, p.addAllQuotas(ctx, o, &view)
	case views.AdminRights:
		return view, p.addRights(ctx, o, &view)
	case views.AdminActivity:
		return view, p.addActivity(ctx, o, &view)
	case views.AdminCalls:
		work, err := p.Cluster.Operator.Controllers(ctx, o.id)
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
