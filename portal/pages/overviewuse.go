package pages

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/web/views"
)

const (
	providerKind = "AWSProvider"
	// maxUsers is how many teams the card of a provider names.
	maxUsers = 4
	// maxQuotas is how many quotas the overview shows: the fullest.
	maxQuotas = 8
)

func isGone(err error) bool { return apierrors.IsNotFound(err) }

func (p *Pages) addWork(ctx context.Context, o overseeing, view *views.Overview) error {
	work, err := p.cluster.Controllers(ctx, o.id)
	if err != nil {
		return err
	}
	spans, err := p.cluster.CallHistory(ctx, o.id)
	if err != nil {
		return err
	}
	w := views.Work{Known: work.Known, Leader: work.Leader, Since: views.Moment{At: work.Since, Now: p.now()}, Steps: operator.Samples}
	for _, c := range work.Controllers {
		w.Controllers = append(w.Controllers, views.Controller{
			Name: c.Name, Queued: c.Queued, Running: c.Running, Workers: c.Workers, Passes: c.Passes, Failures: c.Failures,
			Longest: time.Duration(c.LongestSeconds) * time.Second,
		})
	}
	names := map[string]bool{}
	totals := map[string]int64{}
	for _, s := range work.Services {
		names[s.Name], totals[s.Name] = true, s.Calls
	}
	for _, span := range spans {
		for name := range span.Services {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s := serviceOf(name, spans)
		s.Total = totals[name]
		w.Services = append(w.Services, s)
	}
	view.Work = w
	return nil
}

// serviceOf sums up what one service was asked.
func serviceOf(name string, spans []operator.Span) views.Service {
	s := views.Service{Name: name}
	var steps []*int64
	for _, span := range spans {
		if !span.Known {
			steps = append(steps, nil)
			continue
		}
		n := span.Services[name]
		s.Known = true
		s.Calls, s.Throttled = s.Calls+n.Calls, s.Throttled+n.Throttled
		steps = append(steps, &n.Calls)
	}
	s.Spark = views.NewSpark("spark-"+slug(name), "Calls to "+name+" a minute", "calls a minute", steps)
	return s
}

func (p *Pages) addProviders(ctx context.Context, o overseeing, view *views.Overview) error {
	all, _, err := p.overseen(ctx, o.id, providerKind)
	if unseen(err) {
		return nil
	}
	if err != nil {
		return err
	}
	use, err := p.providerUse(ctx, o)
	if err != nil {
		return err
	}
	for _, obj := range all {
		row := views.ProviderUse{
			Resource: p.resourceNamed(providerKind, obj), Region: nested(obj, "spec", "region"),
			Account:  cmp.Or(nested(obj, "status", "accountID"), nested(obj, "spec", "accountID")),
			Identity: nested(obj, "status", "callerIdentity"),
		}
		checks, err := p.cluster.Checks(ctx, o.id, obj)
		if err != nil && !unseen(err) {
			return err
		}
		if checks.State == operator.Checked {
			row.Checked = views.Moment{At: checks.LastChecked, Now: p.now()}
		}
		row.Resources, row.Teams = usersOf(obj.GetName(), use[obj.GetName()])
		view.Providers = append(view.Providers, row)
	}
	return nil
}

// providerUse counts the resources of each team that use a provider, by provider.
func (p *Pages) providerUse(ctx context.Context, o overseeing) (map[string]map[string]int, error) {
	use := map[string]map[string]int{}
	for _, k := range p.cluster.Kinds().Requestable() {
		all, err := p.cluster.List(ctx, o.id, k, "")
		if err != nil {
			return nil, err
		}
		for _, obj := range all {
			name := providerOf(obj)
			if name == "" {
				continue
			}
			if use[name] == nil {
				use[name] = map[string]int{}
			}
			use[name][obj.GetNamespace()]++
		}
	}
	return use, nil
}

// usersOf names the teams that use a provider the most, and how many resources there are in all.
func usersOf(provider string, by map[string]int) (total int, teams []views.Choice) {
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		total += by[name]
		if i < maxUsers {
			teams = append(teams, views.Choice{Value: views.ListPath(views.Query{Team: name, Search: provider}), Label: views.Tally(name, by[name])})
		}
	}
	if rest := len(names) - maxUsers; rest > 0 {
		teams = append(teams, views.Choice{Value: views.ListPath(views.Query{Search: provider, Sort: views.SortTeam}), Label: views.Tally("other teams", rest)})
	}
	return total, teams
}

func (p *Pages) addShared(ctx context.Context, o overseeing, view *views.Overview) error {
	var pool, claims views.Admin
	if err := p.addPool(ctx, o, &pool); err != nil {
		return err
	}
	if err := p.addClaims(ctx, overseeing{id: o.id}, &claims); err != nil {
		return err
	}
	s := views.Shared{Gateways: len(pool.Gateways), Claims: claims.Total, Orphaned: claims.OrphanedTotal, PoolHidden: pool.Hidden, Hidden: claims.Hidden}
	sum := map[string]views.Use{}
	for _, g := range pool.Gateways {
		if g.Resource.Phase == phase.NeedsYou {
			s.Broken++
		}
		for _, u := range g.Use {
			sum[u.Of] = views.Use{Of: u.Of, N: sum[u.Of].N + u.N, Most: sum[u.Of].Most + u.Most}
		}
	}
	for _, of := range []string{"Hostnames", "Rules", "Target groups"} {
		if len(pool.Gateways) > 0 {
			s.Use = append(s.Use, sum[of])
		}
	}
	view.Shared = s
	return nil
}

func (p *Pages) addQuotas(ctx context.Context, o overseeing, view *views.Overview) error {
	all, err := p.cluster.Quotas(ctx, o.id, "")
	if unseen(err) {
		view.Quotas.Hidden = true
		return nil
	}
	if err != nil {
		return err
	}
	uses := p.quotaUses(all)
	slices.SortStableFunc(uses, func(a, b views.QuotaUse) int { return cmp.Compare(b.Percent, a.Percent) })
	view.Quotas = views.QuotaUses{Uses: uses[:min(maxQuotas, len(uses))], Total: len(uses)}
	return nil
}

// quotaUses are quotas as bars, in the order given.
func (p *Pages) quotaUses(all []cluster.Quota) []views.QuotaUse {
	var out []views.QuotaUse
	for _, q := range all {
		u := views.QuotaUse{
			ID: "quota-" + q.Namespace + "-" + elementID(q.Name) + "-" + slug(q.Of), Team: q.Namespace, Href: views.AboutPath(q.Namespace), Of: p.quotaTitle(q.Of),
			Known: q.Known, Full: q.Full(), Words: "not counted yet, " + q.Hard.String() + " allowed",
		}
		if q.Known {
			u.Words = q.Used.String() + " of " + q.Hard.String()
			u.Percent = shareOf(q)
		}
		if u.Full {
			u.Words += ", full"
		}
		out = append(out, u)
	}
	return out
}

// slug makes a name fit for an id attribute.
func slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// shareOf is how much of a quota is used, in percent; 100 at most, and of what allows nothing.
func shareOf(q cluster.Quota) int {
	hard := q.Hard.AsApproximateFloat64()
	if hard <= 0 {
		return 100
	}
	return int(min(100, q.Used.AsApproximateFloat64()/hard*100))
}

// countQuota is what Kubernetes calls the quota of a number of objects of a kind.
func countQuota(plural string) string { return "count/" + plural + "." + v1alpha1.GroupVersion.Group }

// quotaTitle says what a quota is of: the kind's title where it counts one of ours.
func (p *Pages) quotaTitle(of string) string {
	for _, k := range p.cluster.Kinds() {
		if countQuota(k.Plural) == of {
			return k.Title
		}
	}
	return of
}
