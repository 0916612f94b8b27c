package pages

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// teamsOnPage is how many teams a page shows.
const teamsOnPage = 50

// teamsPage lists the teams that the caller may look into, with the numbers of their resources.
func (p *Pages) teamsPage(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	frame, err := p.frame(r, id, space{}, "Teams")
	if err != nil {
		return err
	}
	if len(frame.Teams) == 0 {
		return errNoTeam
	}
	all, err := p.cluster.Overview(r.Context(), id)
	if err != nil {
		return err
	}
	view := views.Teams{Frame: frame, Search: strings.TrimSpace(r.URL.Query().Get("q"))}
	if len(view.Search) > 200 {
		view.Search = view.Search[:200]
	}
	page, _ := strconv.Atoi(r.URL.Query().Get("page")) // what is no number is the first page
	p.addTeams(&view, all, page)
	if r.Header.Get("HX-Request") == "true" {
		w.Header().Set("HX-Replace-Url", view.Href())
	}
	return p.show(w, r, http.StatusOK, views.TeamsPage(view))
}

// sumsByTeam adds up what can be requested, by the team's id.
func (p *Pages) sumsByTeam(all overview.Overview) map[string]overview.Counts {
	sums := map[string]overview.Counts{}
	for _, c := range all.Cells {
		k, known := p.cluster.Kinds().ByPlural(c.Kind)
		if !known || k.KeptBy != "" {
			continue
		}
		team := cmp.Or(c.Namespace, platformTeam)
		if sums[team] == nil {
			sums[team] = overview.Counts{}
		}
		for is, n := range c.Counts {
			sums[team][is] += n
		}
	}
	return sums
}

func (p *Pages) addTeams(view *views.Teams, all overview.Overview, page int) {
	sums := p.sumsByTeam(all)
	var rows []views.TeamRow
	for _, t := range view.Frame.Teams {
		if t.ID == allTeams {
			continue
		}
		view.Total++
		if !prose.HasWords(view.Search, t.Name) {
			continue
		}
		rows = append(rows, views.TeamRow{Team: t, Counts: countsOver(sums[t.ID])})
	}
	view.Matches = len(rows)
	view.Pages = max(1, (len(rows)+teamsOnPage-1)/teamsOnPage)
	view.Page = min(max(1, page), view.Pages)
	from := (view.Page - 1) * teamsOnPage
	view.Rows = rows[from:min(from+teamsOnPage, len(rows))]
}
