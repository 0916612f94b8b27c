package resource

import (
	"github.com/go-chi/chi/v5"
)

// Routes adds the pages to r, which has the team in its path.
func (p *Pages) Routes(r chi.Router) {
	r.Get("/{kind}/{name}", p.Handler(p.detail))
	r.Get("/{kind}/{name}/live", p.Handler(p.detailLive))
	r.Get("/{kind}/{name}/delete", p.Handler(p.deleteAsk))
	r.Post("/{kind}/{name}/delete", p.Handler(p.deletePost))
	r.Route("/{kind}/{name}/pods/{pod}", func(r chi.Router) {
		r.Get("/", p.Handler(p.podPage))
		r.Get("/live", p.Handler(p.podLive))
		r.Get("/logs", p.Handler(p.logs))
		r.Get("/logs/live", p.Handler(p.logsLive))
		r.Get("/logs/download", p.Handler(p.logsDownload))
	})
	r.Route("/{kind}/{name}/logs", func(r chi.Router) {
		r.Get("/", p.Handler(p.logs))
		r.Get("/live", p.Handler(p.logsLive))
		r.Get("/download", p.Handler(p.logsDownload))
	})
	r.Get("/{kind}/{name}/restart", p.Handler(p.restartAsk))
	r.Post("/{kind}/{name}/scale", p.Handler(p.scale))
	r.Post("/{kind}/{name}/rollback", p.Handler(p.rollback))
	r.Get("/{kind}/{name}/scale", p.Handler(p.backToDetail)) // the URL of a page with an error
	r.Get("/{kind}/{name}/rollback", p.Handler(p.backToDetail))
	r.Post("/{kind}/{name}/{action}", p.Handler(p.act))
}
