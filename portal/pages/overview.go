package pages

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/web/views"
)

const (
	// maxTeams is how many teams the table of health shows: those with the most trouble. The page of all teams has the rest.
	maxTeams = 12
	// maxTroubles is how many objects the lists of troubles show.
	maxTroubles = 8
	// stuckAfter is when a deletion counts as stuck. Databases take longer, which their sentence says.
	stuckAfter = 5 * time.Minute
	// pace is how often pages about the whole platform are rendered at the most, where something changes all the time.
	pace = 2 * time.Second
)

// addOverview is all that the overview says.
func (p *Pages) addOverview(ctx context.Context, o overseeing, view *views.Overview) error {
	for _, add := range []func(context.Context, overseeing, *views.Overview) error{
		p.addHealth, p.addProviders, p.addShared, p.addQuotas,
	} {
		if err := add(ctx, o, view); err != nil {
			return err
		}
	}
	p.addTimes(view)
	return nil
}

// overviewParts are the cards, each replaced on its own.
func overviewParts(ctx context.Context, a views.Admin) ([]live.Part, error) {
	o := a.Overview
	return parts(ctx, part{"features", views.FeaturesPart(a)}, part{"totals", views.TotalsPart(o)}, part{"health", views.HealthPart(o)},
		part{"failing", views.FailingPart(o)}, part{"leaving", views.LeavingPart(o)}, part{"times", views.TimesPart(o)},
		part{"controllers", views.ControllersPart(o.Work)}, part{"services", views.ServicesPart(o.Work)},
		part{"providers", views.ProvidersPart(o)}, part{"shared", views.SharedPart(o.Shared)}, part{"quotas", views.QuotasPart(o.Quotas)})
}

// paced passes signals on, and waits for a while after each. Like live pages it looks again now and then, for what no change
// tells of. It ends with ctx.
func paced(ctx context.Context, changed <-chan struct{}) <-chan struct{} {
	out := make(chan struct{}, 1)
	signals := again(ctx, changed)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			select {
			case out <- struct{}{}:
			default: // it is known already
			}
			rest := time.NewTimer(pace)
			select {
			case <-ctx.Done():
				rest.Stop()
				return
			case <-rest.C:
			}
		}
	}()
	return out
}

func (p *Pages) addHealth(ctx context.Context, o overseeing, view *views.Overview) error {
	all, err := p.cluster.Overview(ctx, o.id)
	if err != nil {
		return err
	}
	kinds := p.cluster.Kinds().Requestable()
	requestable := func(at overview.Place) bool { _, ok := kinds.ByPlural(at.Kind); return ok }
	view.Counts = countsIn(all.Sum(requestable))
	for _, k := range kinds {
		view.Kinds = append(view.Kinds, views.Choice{Value: k.Plural, Label: k.Title})
	}
	view.Hidden = hiddenKinds(slices.DeleteFunc(slices.Clone(kinds), func(k catalog.Kind) bool { return !slices.Contains(all.Narrow, k.Plural) }))
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

// addHiddenCells marks the numbers that the caller may not know, and counts the teams.
func (p *Pages) addHiddenCells(ctx context.Context, o overseeing, view *views.Overview) error {
	teams, err := p.teams(ctx, o.id)
	if err != nil {
		return err
	}
	view.InAll = len(slices.DeleteFunc(teams, func(t views.Team) bool { return t.ID == allTeams }))
	var names []string
	for _, t := range view.Teams {
		names = append(names, t.Team)
	}
	unlisted, err := p.cluster.Unlisted(ctx, o.id, names)
	for _, t := range view.Teams {
		for i := range t.Cells {
			_, t.Cells[i].Hidden = unlisted[t.Team].ByPlural(t.Cells[i].Kind)
		}
	}
	return err
}

func (p *Pages) addTroubles(ctx context.Context, o overseeing, all overview.Overview, view *views.Overview) error {
	for _, t := range all.Failing[:min(maxTroubles, len(all.Failing))] {
		view.Failing = append(view.Failing, p.troubleOf("failing", t))
	}
	view.FailingAll = waysTo(all.Failing, phase.NeedsYou.Slug())
	view.Stuck = views.Duration(stuckAfter)
	n := slices.IndexFunc(all.Leaving, func(t overview.Trouble) bool { return !stuck(t.Since, p.now()) })
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

// stuck tells a deletion that was asked for too long ago.
func stuck(since, now time.Time) bool { return now.Sub(since) >= stuckAfter }

// waysTo are the lists that have all of the troubles: that of all teams, and that of the platform.
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
		ways = append(ways, views.Choice{Value: views.TeamPath(platformTeam) + q.Encode(), Label: strconv.Itoa(rest) + " of the platform"})
	}
	return ways
}

// countsIn are the number of all, and those of each phase.
func countsIn(n overview.Counts) []views.Count {
	counts := []views.Count{{N: n.Total()}}
	for _, is := range []phase.Phase{phase.NeedsYou, phase.InProgress, phase.Ready, phase.Paused, phase.Deleting} {
		counts = append(counts, views.Count{Phase: is, N: n[is]})
	}
	return counts
}

// healthOf is a row for each namespace with objects of the kinds: first those with the most that need somebody, then those with
// the most under way.
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
		return cmp.Or(cmp.Compare(y[phase.NeedsYou], x[phase.NeedsYou]), cmp.Compare(y[phase.InProgress], x[phase.InProgress]), cmp.Compare(a.Team, b.Team))
	})
	return out
}

func cellOf(k catalog.Kind, n overview.Counts) views.HealthCell {
	return views.HealthCell{Kind: k.Plural, Label: k.Title, Counts: countsOver(n)}
}

// countsOver are the counts of phases that there are any of, worst first.
func countsOver(n overview.Counts) []views.Count {
	var counts []views.Count
	for _, is := range phase.All() {
		if n[is] > 0 {
			counts = append(counts, views.Count{Phase: is, N: n[is]})
		}
	}
	return counts
}

// troubleOf is a row of a list; the lists may name the same object.
func (p *Pages) troubleOf(list string, t overview.Trouble) views.Trouble {
	k, _ := p.cluster.Kinds().ByPlural(t.Kind)
	s := p.spaceNamed(cmp.Or(t.Namespace, platformTeam))
	brief, _ := firstSentence(t.Why)
	return views.Trouble{
		ID: strings.Join([]string{list, t.Kind, s.team.ID + "_", elementID(t.Name)}, "-"), Name: t.Name,
		Href: views.ResourcePath(s.team.ID, t.Kind, t.Name), Kind: k.Title, Icon: k.Icon, Team: s.team.Name,
		Phase: t.Phase, Why: brief, Since: views.Moment{At: t.Since, Now: p.now()},
	}
}

// finalizers are what the deletion of an object waits for; none if it is gone by now, or may not be looked at.
func (p *Pages) finalizers(ctx context.Context, o overseeing, t overview.Trouble) ([]string, error) {
	k, ok := p.cluster.Kinds().ByPlural(t.Kind)
	if !ok {
		return nil, nil
	}
	obj, err := p.cluster.Get(ctx, o.id, cluster.Ref{Kind: k, Namespace: t.Namespace, Name: t.Name})
	if unseen(err) || isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return obj.GetFinalizers(), nil
}

// addTimes adds what everybody may know: aggregates over the whole cluster.
func (p *Pages) addTimes(view *views.Overview) {
	for _, k := range p.cluster.Kinds().Requestable() {
		t := p.cluster.TimesToReady(k)
		row := views.KindTimes{
			Kind: k.Title, Icon: k.Icon, Slowest: views.ListPath(views.Query{Kind: k.Plural, Sort: views.SortTook}),
			N: t.N, Known: t.Known(), P50: t.P50, P95: t.P95,
		}
		row.Plot = views.Histogram{
			ID: "plot-" + k.Plural, Title: "Time to ready of " + k.Title,
			Desc: "Half within " + views.Within(t.P50) + ", 95 % within " + views.Within(t.P95) + ", of " + strconv.Itoa(t.N) + ".",
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
