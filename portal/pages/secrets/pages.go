// Package secrets serves the pages on which people set values of Secrets, and see the password of a resource once. The
// operator decides what they can do, by their own token of a recent sign-in. No response contains a value, except for
// the page that shows a password.
package secrets

import (
	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/pages/page"
)

// Pages serves these pages.
type Pages struct{ *page.Base }

// New returns the pages.
func New(base *page.Base) *Pages { return &Pages{base} }

// Routes adds the pages to r, whose path contains the team.
func (p *Pages) Routes(r chi.Router) {
	r.Get("/secrets", p.Handler(p.list))
	r.Post("/secrets", p.Handler(p.set))
	r.Get("/secrets/{secret}/delete", p.Handler(p.deleteAsk))
	r.Post("/secrets/{secret}/delete", p.Handler(p.deletePost))
	r.Get("/{kind}/{name}/password", p.Handler(p.passwordAsk))
	r.Post("/{kind}/{name}/password", p.Handler(p.passwordShow))
}
