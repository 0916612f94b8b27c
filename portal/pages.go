package portal

import (
	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/auth"
)

// Pages is the HTML side of the portal.
type Pages interface {
	// The pages of signing in and out, and errors outside the pages themselves. They need no session.
	auth.Pages
	// Routes adds the pages. Their requests have an identity (auth.FromContext), and writes have passed the origin
	// checks.
	Routes(r chi.Router)
}
