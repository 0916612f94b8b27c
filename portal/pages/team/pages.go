// Package team serves the page of a Team: its members, what it has and how much of it is used. Members see the page of
// their own Team; its content depends on their rights.
package team

import (
	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// Pages serves the pages of Teams.
type Pages struct {
	*page.Base
	portal string // its URL
}

// New returns the pages of the portal at a URL.
func New(base *page.Base, portal string) *Pages { return &Pages{base, portal} }

// Routes adds the pages to r.
func (p *Pages) Routes(r chi.Router) {
	r.Route(views.OwnerPath("")+"{name}", func(r chi.Router) {
		r.Get("/", p.Handler(p.show))
		r.Get("/live", p.Handler(p.live))
		r.Get("/members", p.Handler(p.back)) // the URL on which a refused form was shown
		r.Post("/members", p.Handler(p.members))
		r.Get("/deployers", p.Handler(p.back))
		r.Post("/deployers", p.Handler(p.deployers))
		r.Get("/suspend", p.Handler(p.suspendAsk))
		r.Post("/suspend", p.Handler(p.suspend))
	})
}
