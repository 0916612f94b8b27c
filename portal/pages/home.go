package pages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// home redirects to the team that one of the caller's groups is named after. Without one it redirects platform admins
// to their overview, and others to the first of their teams.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	teams, err := p.Teams(r.Context(), id)
	if err != nil {
		return err
	}
	if len(teams) == 0 {
		return page.ErrNoTeam
	}
	if own, named := teamOf(teams, id.Groups); named {
		return page.SeeOther(w, r, views.TeamPath(own.ID))
	}
	admin, err := p.IsAdmin(r.Context(), id)
	if err != nil {
		return err
	}
	if admin {
		return page.SeeOther(w, r, views.AdminPath)
	}
	return page.SeeOther(w, r, views.TeamPath(teams[0].ID))
}

// teamOf returns the first team that a group is named after, with any prefix or suffix.
func teamOf(teams []views.Team, groups []string) (team views.Team, named bool) {
	i := slices.IndexFunc(teams, func(t views.Team) bool {
		return slices.ContainsFunc(groups, func(g string) bool {
			return slices.Contains(strings.FieldsFunc(g, func(r rune) bool {
				return strings.ContainsRune(":/-_. ", r)
			}), t.ID)
		})
	})
	if i < 0 {
		return team, false
	}
	return teams[i], true
}

// switchTeam handles the team switcher.
func (p *Pages) switchTeam(w http.ResponseWriter, r *http.Request) error {
	team := r.URL.Query().Get("team")
	if team == "" {
		return page.SeeOther(w, r, "/")
	}
	return page.SeeOther(w, r, views.TeamPath(team))
}
