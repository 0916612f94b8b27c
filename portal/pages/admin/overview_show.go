package admin

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

const (
	// maxTeams is the number of teams in the health table: those with the most problems. The page of all teams has the
	// rest.
	maxTeams = 12
	// maxTroubles is the number of objects in the lists of troubles.
	maxTroubles = 8
)

// addOverview adds the content of the overview.
func (p *Pages) addOverview(ctx context.Context, o tabRequest, view *views.Overview) error {
	for _, add := range []func(context.Context, tabRequest, *views.Overview) error{
		p.addHealth, p.addProviders, p.addShared, p.addQuotas,
	} {
		if err := add(ctx, o, view); err != nil {
			return err
		}
	}
	p.addTimes(view)
	return nil
}

// overviewParts returns the cards, each replaced on its own.
func overviewParts(ctx context.Context, a views.Admin) ([]sse.Part, error) {
	o := a.Overview
	return page.Parts(ctx, page.Replace("features", views.FeaturesPart(a)), page.Replace("totals", views.TotalsPart(o)),
		page.Replace("health", views.HealthPart(o)),
		page.Replace("failing", views.FailingPart(o)), page.Replace("leaving", views.LeavingPart(o)),
		page.Replace("times", views.TimesPart(o)),
		page.Replace("controllers", views.ControllersPart(o.Work)),
		page.Replace("services", views.ServicesPart(o.Work)),
		page.Replace("providers", views.ProvidersPart(o)), page.Replace("shared", views.SharedPart(o.Shared)),
		page.Replace("quotas", views.QuotasPart(o.Quotas)))
}

func (p *Pages) addHealth(ctx context.Context, o tabRequest, view *views.Overview) error {
	all, err := p.Cluster.Objects.Overview(ctx, o.id)
	if err != nil {
		return err
	}
	kinds := p.Cluster.Kinds.Now().Requestable()
	requestable := func(at overview.Place) bool { _, ok := kinds.ByPlural(at.Kind); return ok }
	view.Counts = page.CountsIn(all.Sum(requestable))
	for _, k := range kinds {
		view.Kinds = append(view.Kinds, views.Choice{Value: k.Plural, Label: k.Title})
	}
	view.Hidden = page.HiddenKinds(
		slices.DeleteFunc(slices.Clone(kinds), func(k catalog.Kind) bool {
			return !slices.Contains(all.Narrow, k.Plural)
		}))
	teams := healthOf(all, kinds)
	view.Teams = teams[:min(maxTeams, len(teams))]
	if err := p.addHiddenCells(ctx, o, view); err != nil {
		return err
	}
	if err := p.addTroubles(ctx, o, all, view); err != nil {
		return err
	}
	return p.addWork(ctx, o, all, view)
}

// addHiddenCells marks the numbers that the caller has no right to see.
func (p *Pages) addHiddenCells(ctx context.Context, o tabRequest, view *views.Overview) error {
	var names []string
	for _, t := range view.Teams {
		names = append(names, t.Team)
	}
	unlisted, err := p.Cluster.Rights.Unlisted(ctx, o.id, names)
	for _, t := range view.Teams {
		for i := range t.Cells {
			_, t.Cells[i].Hidden = unlisted[t.Team].ByPlural(t.Cells[i].Kind)
		}
	}
	return err
}

func (p *Pages) addTroubles(ctx context.Context, o tabRequest, all overview.Overview, view *views.Overview) error {
	for _, t := range all.Failing[:min(maxTroubles, len(all.Failing))] {
		view.Failing = append(view.Failing, p.troubleOf("failing", t))
	}
	view.FailingAll = waysTo(all.Failing, phase.NeedsYou.Slug())
	view.Stuck = views.Duration(page.StuckAfter)
	n := slices.IndexFunc(all.Leaving, func(t overview.Trouble) bool { return !page.Stuck(t.Since, p.Now()) })
	if n < 0 {
		n = len(all.Leaving)
	}
	view.LeavingAll = waysTo(all.Leaving[:n], views.StuckStatus)
	for _, t := range all.Leaving[:min(maxTroubles, n)] {
		waits, err := p.finalizers(ctx, o, t)
		if err != nil {
			return err
		}
		row := p.troubleOf("leaving", t)
		row.Finalizers = waits
		view.Leaving = append(view.Leaving, row)
	}
	return nil
}

// waysTo returns links to the lists with all of the troubles: that of all teams, and that of the platform.
func waysTo(all []overview.Trouble, status string) []views.Choice {
	q, teams := views.Query{Phase: status}, 0
	for _, t := range all {
		if t.Namespace != "" {
			teams++
		}
	}
	var ways []views.Choice
	if teams > 0 {
		ways = append(ways, views.Choice{Value: views.ListPath(q), Label: strconv.Itoa(teams) + " of teams"})
	}
	if rest := len(all) - teams; rest > 0 {
		ways = append(ways, views.Choice{
			Value: views.TeamPath(page.PlatformTeam) + q.Encode(),
			Label: strconv.Itoa(rest) + " of the platform",
		})
	}
	return ways
}

// healthOf returns a row for each namespace with objects of the kinds: first those with the most objects that need
// attention, then those with the most in progress.
func healthOf(all overview.Overview, kinds catalog.Catalog) []views.TeamHealth {
	sums := map[string]overview.Counts{}
	cells := map[overview.Place]overview.Counts{}
	for _, c := range all.Cells {
		if _, ok := kinds.ByPlural(c.Kind); !ok {
			continue
		}
		cells[c.Place] = c.Counts
		if sums[c.Namespace] == nil {
			sums[c.Namespace] = overview.Counts{}
		}
		for is, n := range c.Counts {
			sums[c.Namespace][is] += n
		}
	}
	var out []views.TeamHealth
	for team := range sums {
		row := views.TeamHealth{Team: team}
		for _, k := range kinds {
			row.Cells = append(row.Cells, cellOf(k, cells[overview.Place{Kind: k.Plural, Namespace: team}]))
		}
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b views.TeamHealth) int {
		x, y := sums[a.Team], sums[b.Team]
		return cmp.Or(cmp.Compare(y[phase.NeedsYou], x[phase.NeedsYou]),
			cmp.Compare(y[phase.InProgress], x[phase.InProgress]), cmp.Compare(a.Team, b.Team))
	})
	return out
}

func cellOf(k catalog.Kind, n overview.Counts) views.HealthCell {
	return views.HealthCell{Kind: k.Plural, Label: k.Title, Counts: page.CountsOver(n)}
}

// troubleOf returns a row of a list; several lists can contain the same object.
func (p *Pages) troubleOf(list string, t overview.Trouble) views.Trouble {
	k, _ := p.Cluster.Kinds.Now().ByPlural(t.Kind)
	s := p.SpaceNamed(cmp.Or(t.Namespace, page.PlatformTeam))
	brief, _ := humanize.FirstSentence(t.Why)
	return views.Trouble{
		ID: strings.Join([]string{list, t.Kind, s.Team.ID + "_", page.ElementID(t.Name)}, "-"), Name: t.Name,
		Href: views.ResourcePath(s.Team.ID, t.Kind, t.Name), Kind: k.Title, Icon: k.Icon, Team: s.Team.Name,
		Phase: t.Phase, Why: brief, Since: views.Moment{At: t.Since, Now: p.Now()},
	}
}

// finalizers returns the finalizers of an object being deleted; none if it is gone, or the caller cannot get it.
func (p *Pages) finalizers(ctx context.Context, o tabRequest, t overview.Trouble) ([]string, error) {
	k, ok := p.Cluster.Kinds.Now().ByPlural(t.Kind)
	if !ok {
		return nil, nil
	}
	obj, err := p.Cluster.Objects.Get(ctx, o.id, catalog.Ref{Kind: k, Namespace: t.Namespace, Name: t.Name})
	if page.Unseen(err) || isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return obj.GetFinalizers(), nil
}

// addTimes adds aggregates over the whole cluster, which need no right.
func (p *Pages) addTimes(view *views.Overview) {
	for _, k := range p.Cluster.Kinds.Now().Requestable() {
		t := p.Cluster.Objects.TimesToReady(k)
		row := views.KindTimes{
			Kind: k.Title, Icon: k.Icon, Slowest: views.ListPath(views.Query{Kind: k.Plural, Sort: views.SortTook}),
			N: t.N, Known: t.Known(), P50: t.P50, P95: t.P95,
		}
		row.Plot = views.Histogram{
			ID: "plot-" + k.Plural, Title: "Time to ready of " + k.Title,
			Desc: "Half within " + views.Within(t.P50) + ", 95 % within " + views.Within(t.P95) + ", of " +
				strconv.Itoa(t.N) + ".",
		}
		for i, b := range t.Buckets {
			label := "≤ " + views.Duration(b.UpTo)
			if b.UpTo == 0 && i > 0 {
				label = "> " + views.Duration(t.Buckets[i-1].UpTo)
			}
			row.Plot.Bars = append(row.Plot.Bars, views.Bar{Label: label, N: b.N})
		}
		view.Times = append(view.Times, row)
	}
}
