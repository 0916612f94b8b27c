package page

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/web/views"
)

// helpOf maps parts of routes to pages of the documentation. The first match applies, before the page of the kind.
var helpOf = []struct{ route, page string }{
	{"/password", "user-guide#values-of-secrets-and-passwords"},
	{"/secrets", "user-guide#values-of-secrets-and-passwords"},
	{"/about", "user-guide#your-team"},
	{"/admin/sessions", "admin-guide#how-long-people-stay-signed-in"},
	{"/admin/teams/new", "kinds/team"},
	{"/admin", "admin-guide#the-overview"},
	{"/team/", "user-guide#your-team"},
}

// help returns the documentation page for the request's page.
func (b *Base) help(r *http.Request) string {
	route := ""
	if at := chi.RouteContext(r.Context()); at != nil {
		route = at.RoutePattern()
	}
	for _, of := range helpOf {
		if strings.Contains(route, of.route) {
			return views.DocsPath + "/" + of.page
		}
	}
	if k, ok := b.Cluster.Kinds.Now().ByPlural(chi.URLParam(r, "kind")); ok {
		return views.DocsPath + "/kinds/" + strings.ToLower(k.Name)
	}
	return views.DocsPath + "/user-guide#in-the-browser"
}
