package request

import (
	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/web/views"
)

// TeamRoutes adds the form for a new Team to r. The form that changes one is among Routes.
func (p *Pages) TeamRoutes(r chi.Router) {
	r.Get(views.NewTeamPath, p.Handler(p.teamForm))
	r.Post(views.NewTeamPath, p.Handler(p.teamPost))
}

// Routes adds the forms to r, which has the team in its path.
func (p *Pages) Routes(r chi.Router) {
	r.Get("/hostnames/check", p.Handler(p.hostnameCheck))
	r.Get("/names/"+form.Secrets, p.Handler(p.names))
	r.Get("/offers/{kind}/{field}", p.Handler(p.offersList))
	r.Get("/deleted", p.Handler(p.deletedList))
	r.Get("/new/{kind}", p.Handler(p.requestForm))
	r.Post("/new/{kind}", p.Handler(p.requestPost))
	r.Get("/{kind}/{name}/edit", p.Handler(p.editForm))
	r.Post("/{kind}/{name}/edit", p.Handler(p.editPost))
}
