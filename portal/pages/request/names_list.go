package request

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// names responds with the names of the Secrets that the team's resources publish, one per line, or with the keys of one
// Secret. Forms request them when the input gets the focus: pages do not wait for them, and other names can be typed.
func (p *Pages) names(w http.ResponseWriter, r *http.Request) error {
	id, s, err := p.CallerInTeam(r)
	if err != nil {
		return err
	}
	published, err := p.Cluster.Teams.Bindings(r.Context(), id, s.Namespace)
	if err != nil {
		return err
	}
	all := slices.Sorted(maps.Keys(published))
	if of := r.URL.Query(); of.Has("of") {
		all = published[of.Get("of")]
	}
	return p.plain(w, r, http.StatusOK, strings.Join(all, "\n"))
}
