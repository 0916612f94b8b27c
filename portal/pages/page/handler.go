package page

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/auth"
)

// Handler wraps a handler that returns an error, and shows an error page for it.
func (b *Base) Handler(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if id, ok := auth.FromContext(r.Context()); ok {
			b.people.saw(id)
		}
		if err := h(w, r); err != nil {
			b.Fail(w, r, err)
		}
	}
}

// PossibleTeam refuses invalid namespace names before a request to Kubernetes, where names become part of a URL. The
// response is the same as without rights in the namespace, since nobody can have any.
func (b *Base) PossibleTeam(next http.Handler) http.Handler {
	return b.Handler(func(w http.ResponseWriter, r *http.Request) error {
		team := chi.URLParam(r, "team")
		if team != PlatformTeam && team != AllTeams && len(validation.IsDNS1123Label(team)) > 0 {
			return MayNotList(b.SpaceNamed(team))
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// OneTeam responds 404 in the space of all teams, for pages that only a single team has.
func (b *Base) OneTeam(next http.Handler) http.Handler {
	return b.Handler(func(w http.ResponseWriter, r *http.Request) error {
		if b.SpaceOf(r).Everywhere() {
			return ErrNoPage
		}
		next.ServeHTTP(w, r)
		return nil
	})
}
