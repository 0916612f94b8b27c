package request

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// names answers with the names of the Secrets that the team's resources publish, one a line, or with the name of one
// with its keys. Forms ask when an input for one gets the focus: no page waits for it, and others are typed.
func (p *Pages) names(w http.ResponseWriter, r *http.Request) error {
	id, s, err := p.CallerInTeam(r)
	if err != nil {
		return err
	}
	published, err := p.cluster.Bindings(r.Context(), id, s.Namespace)
	if err != nil {
		return err
	}
	all := slices.Sorted(maps.Keys(published))
	if of := r.URL.Query(); of.Has("of") {
		all = published[of.Get("of")]
	}
	return p.plain(w, r, http.StatusOK, strings.Join(all, "\n"))
}
