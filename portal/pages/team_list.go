package pages

import (
	"cmp"
	"context"
	"net/http"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// teamsLimit is the number of teams on a page.
const teamsLimit = 50

// teamsPage lists the teams that the caller can see, with the counts of their resources.
func (p *Pages) teamsPage(w http.ResponseWriter, r *http.Request) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	frame, err := p.Frame(r, id, page.Space{}, "Teams")
	if err != nil {
		return err
	}
	view, err := p.teamsOf(r, id, frame)
	if err != nil {
		return err
	}
	if r.Header.Get("HX-Request") == "true" {
		w.Header().Set("HX-Replace-Url", view.Href())
	}
	return p.Show(w, r, http.StatusOK, views.TeamsPage(view))
}

// teamsLive streams the same page.
func (p *Pages) teamsLive(w http.ResponseWriter, r *http.Request) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	known := p.Cluster.Kinds.Now().Offered()
	changed := page.Paced(r.Context(), p.Follow(r.Context(), func(c feed.Change) bool {
		_, shown := known.ByPlural(c.Kind)
		return !c.Events && !c.Pods && shown
	}))
	look := func(ctx context.Context) (views.Teams, error) {
		teams, err := p.Teams(ctx, id)
		if err != nil {
			return views.Teams{}, err
		}
		return p.teamsOf(r.WithContext(ctx), id, views.Frame{Teams: teams})
	}
	return p.Live(w, r, id, page.Live{
		Changed: changed,
		Allowed: func(ctx context.Context) error {
			teams, err := p.Teams(ctx, id)
			if err == nil && len(teams) == 0 {
				err = page.ErrNoTeam
			}
			return err
		},
		Render: func(ctx context.Context) ([]sse.Part, error) {
			view, err := look(ctx)
			if err != nil {
				return nil, err
			}
			return page.Parts(ctx, page.Replace("teams", views.TeamsPart(view)))
		},
	})
}

// teamsOf returns the page's content for the teams in the frame. A caller who can see no team gets a *ForbiddenError.
func (p *Pages) teamsOf(r *http.Request, id auth.Identity, frame views.Frame) (views.Teams, error) {
	view := views.Teams{Frame: frame, Search: page.Search(r.URL.Query())}
	if len(frame.Teams) == 0 {
		return view, page.ErrNoTeam
	}
	all, err := p.Cluster.Objects.Overview(r.Context(), id)
	if err != nil {
		return view, err
	}
	p.addTeams(&view, all, page.Batch(r.URL.Query()))
	return view, p.addUnlisted(r.Context(), id, &view)
}

// addUnlisted adds the kinds that the counts of the page's teams do not include.
func (p *Pages) addUnlisted(ctx context.Context, id auth.Identity, view *views.Teams) error {
	var names []string
	for _, row := range view.Rows {
		if row.Team.About {
			names = append(names, row.Team.ID)
		}
	}
	unlisted, err := p.Cluster.Rights.Unlisted(ctx, id, names)
	for i := range view.Rows {
		view.Rows[i].Hidden = page.HiddenKinds(unlisted[view.Rows[i].Team.ID])
	}
	return err
}

// sumsByTeam adds up the counts of requestable kinds, by the team's ID.
func (p *Pages) sumsByTeam(all overview.Overview) map[string]overview.Counts {
	sums := map[string]overview.Counts{}
	for _, c := range all.Cells {
		k, known := p.Cluster.Kinds.Now().ByPlural(c.Kind)
		if !known || k.KeptBy != "" {
			continue
		}
		team := cmp.Or(c.Namespace, page.PlatformTeam)
		if sums[team] == nil {
			sums[team] = overview.Counts{}
		}
		for is, n := range c.Counts {
			sums[team][is] += n
		}
	}
	return sums
}

func (p *Pages) addTeams(view *views.Teams, all overview.Overview, number int) {
	sums := p.sumsByTeam(all)
	var rows []views.TeamRow
	for _, t := range view.Frame.Teams {
		if t.ID == page.AllTeams {
			continue
		}
		view.Total++
		if !humanize.HasWords(view.Search, t.Name) {
			continue
		}
		rows = append(rows, views.TeamRow{Team: t, Counts: page.CountsOver(sums[t.ID])})
	}
	view.Matches = len(rows)
	shown := listing.BatchOf(len(rows), teamsLimit, number)
	view.Batch, view.Batches, view.Rows = shown.Number, shown.Count, rows[shown.From:shown.To]
}
