package pages

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// Routes adds the pages to r, which must authenticate every request.
func (p *Pages) Routes(r chi.Router) {
	r.Get("/", p.Handler(p.home))
	r.Get(views.SwitchPath, p.Handler(p.switchTeam))
	r.Get(views.TeamsPath, p.Handler(p.teamsPage))
	r.Get(views.TeamsPath+"/_live", p.Handler(p.teamsLive)) // no namespace can have this name
	r.Route("/teams/{team}", func(r chi.Router) {
		r.Use(p.PossibleTeam)
		r.Get("/", p.Handler(p.resources))
		r.Get("/live", p.Handler(p.resourcesLive))
		r.Get("/catalog", p.Handler(p.catalog))
		r.Group(p.teamRoutes)
	})
	p.request.TeamRoutes(r)
	p.team.Routes(r)
	p.admin.Routes(r)
	r.NotFound(p.Handler(func(http.ResponseWriter, *http.Request) error { return page.ErrNoPage }))
}

// teamRoutes adds the pages of one team, which the list of all teams does not have.
func (p *Pages) teamRoutes(r chi.Router) {
	r.Use(p.OneTeam)
	r.Get("/about", p.Handler(p.about))
	r.Get("/about/live", p.Handler(p.aboutLive))
	r.Get("/catalog/live", p.Handler(p.catalogLive))
	p.request.Routes(r)
	p.secrets.Routes(r)
	p.resource.Routes(r)
}
