package portal

import (
	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/auth"
)

// Pages is the HTML side of the portal.
type Pages interface {
	// What signing in and out shows, and errors outside the pages themselves. Nobody needs to be signed in.
	auth.Pages
	// Routes adds the pages. Behind them every request has an identity (auth.FromContext), and writes have passed the
	// checks of origin.
	Routes(r chi.Router)
}
