package portal

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/auth"
)

// Pages is the HTML side of the portal.
type Pages interface {
	// Routes adds the pages. Behind them every request has an identity (auth.FromContext), and writes have passed the
	// checks of origin.
	Routes(r chi.Router)
	// SignIn is the page for visitors; href is where signing in begins, and why the ending of their session, if they had one.
	SignIn(w http.ResponseWriter, r *http.Request, href string, why auth.Ending)
	// SignedOut is the page after signing out. endSession is where the identity provider ends its own session, to be
	// offered as a link; "" when it has no such page.
	SignedOut(w http.ResponseWriter, r *http.Request, endSession string)
	// Ended is the page, with status 401, for what was sent after the session had ended. href is where signing in begins,
	// to come back to the page that sent it.
	Ended(w http.ResponseWriter, r *http.Request, href string)
	// Problem is a page for an error outside the pages themselves, such as a refused sign-in. title and detail are for
	// the user. Nobody needs to be signed in.
	Problem(w http.ResponseWriter, r *http.Request, p Problem)
}

// Problem is what went wrong, in words for the user.
type Problem struct {
	Status    int
	Title     string
	Detail    string
	RequestID string
}
