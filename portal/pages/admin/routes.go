package admin

import (
	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/web/views"
)

// Routes adds the pages to r.
func (p *Pages) Routes(r chi.Router) {
	r.Get(views.AdminPath, p.Handler(p.dashboard))
	r.Get(views.AdminPath+"/live", p.Handler(p.dashboardLive))
	r.Get(views.SessionsPath, p.Handler(p.sessionsAsk))
	r.Post(views.SessionsPath, p.Handler(p.sessionsEnd))
	r.Get(views.AdminPath+"/{tab}", p.Handler(p.dashboard))
}
