package admin

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// addWork adds the state of the operator's controllers, and how many of their resources need attention.
func (p *Pages) addWork(ctx context.Context, o tabRequest, all overview.Overview, view *views.Overview) error {
	work, err := p.Cluster.Operator.Controllers(ctx, o.id)
	if err != nil {
		return err
	}
	for _, c := range work.Controllers {
		every, failing := p.ofController(c.Name, all)
		view.Work.Controllers = append(view.Work.Controllers, views.Controller{
			Name: c.Name, All: every, Queued: c.Queued, Running: c.Running, Workers: c.Workers, Passes: c.Passes,
			Failures: c.Failures,
			Longest:  time.Duration(c.LongestSeconds) * time.Second, Failing: failing,
		})
	}
	view.Work.Known, view.Work.Leader, view.Work.Since = work.Known, work.Leader,
		views.Moment{At: work.Since, Now: p.Now()}
	return p.addServices(ctx, o, work, &view.Work)
}

// ofController returns links to all of a controller's resources, and to those that need attention with their number;
// empty if there is no list, or the caller cannot list them everywhere.
func (p *Pages) ofController(controller string, all overview.Overview) (every, failing views.Choice) {
	kinds := p.Cluster.Kinds.Now()
	i := slices.IndexFunc(kinds, func(k catalog.Kind) bool { return k.Own() && strings.EqualFold(k.Name, controller) })
	if i < 0 || slices.Contains(all.Narrow, kinds[i].Plural) {
		return views.Choice{Label: controller}, views.Choice{}
	}
	k := kinds[i]
	way := func(is phase.Phase) string {
		q := views.Query{Kind: k.Plural, Phase: is.Slug()}
		switch {
		case k.ID() == page.PoolKind:
			return views.AdminHref(views.AdminPool, views.AdminQuery{Broken: is != ""})
		case !k.Namespaced:
			return views.TeamPath(page.PlatformTeam) + q.Encode()
		}
		return views.ListPath(q)
	}
	switch {
	case k.ID() == page.ClaimKind:
		return views.Choice{Value: views.AdminHref(views.AdminClaims, views.AdminQuery{}), Label: controller},
			views.Choice{}
	case k.ID() == page.GrantKind:
		return views.Choice{Value: views.AdminHref(views.AdminGrants, views.AdminQuery{}), Label: controller},
			views.Choice{}
	case k.KeptBy != "" && k.ID() != page.PoolKind:
		return views.Choice{Label: controller}, views.Choice{}
	}
	n := all.Sum(func(at overview.Place) bool { return at.Kind == k.Plural })[phase.NeedsYou]
	return views.Choice{Value: way(""), Label: controller},
		views.Choice{Value: way(phase.NeedsYou), Label: strconv.Itoa(n)}
}

// addServices adds the AWS calls: recent ones, as recorded by this portal, and those since the leader started.
func (p *Pages) addServices(ctx context.Context, o tabRequest, work operator.Work, view *views.Work) error {
	spans, err := p.Cluster.Operator.CallHistory(ctx, o.id)
	if err != nil {
		return err
	}
	names, since := map[string]bool{}, map[string]views.Asked{}
	for _, s := range work.Services {
		names[s.Name], since[s.Name] = true, views.Asked{Calls: s.Calls, Failures: s.Failures, Throttled: s.Throttled}
	}
	for _, span := range spans {
		for name := range span.Services {
			names[name] = true // an earlier leader called it, or the operator does not answer
		}
	}
	view.Known, view.Steps = work.Known, operator.Samples
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s := p.serviceOf(name, spans)
		s.Since = since[name]
		view.Services = append(view.Services, s)
	}
	return nil
}

// serviceOf sums up the calls of one service.
func (p *Pages) serviceOf(name string, spans []operator.Span) views.Service {
	s := views.Service{Name: name, Href: views.AdminHref(views.AdminCalls, views.AdminQuery{Service: name})}
	var steps []*int64
	for _, span := range spans {
		m := views.Minute{At: views.Moment{At: span.At, Now: p.Now()}, Known: span.Known}
		if !span.Known {
			steps, s.Minutes = append(steps, nil), append(s.Minutes, m)
			continue
		}
		n := span.Services[name]
		m.Asked = views.Asked{Calls: n.Calls, Failures: n.Failures, Throttled: n.Throttled}
		s.Measured++
		s.Calls, s.Failures, s.Throttled = s.Calls+n.Calls, s.Failures+n.Failures, s.Throttled+n.Throttled
		steps, s.Minutes = append(steps, &n.Calls), append(s.Minutes, m)
	}
	slices.Reverse(s.Minutes)
	s.Spark = views.NewSpark("spark-"+page.Slug(name), "Calls to "+name+" a minute", "calls a minute", steps)
	return s
}
