package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// pageSize is how many rows a page of the list has.
const pageSize = 25

// queryOf reads the list's query from the URL. What it does not know it ignores: old bookmarks must work.
func queryOf(v url.Values) views.Query {
	q := views.Query{Search: strings.TrimSpace(v.Get("q")), Kind: v.Get("kind"), Team: v.Get("team"), Mine: v.Get("by") == views.ByMe, Page: 1}
	if len(q.Search) > 200 {
		q.Search = q.Search[:200]
	}
	if p, ok := phase.Parse(v.Get("status")); ok {
		q.Phase = p.Slug()
	}
	key, desc := strings.CutPrefix(v.Get("sort"), "-")
	if _, known := orders[key]; known && v.Get("sort") != views.SortStatus { // that is how it is sorted anyway
		q.Sort, q.Desc = key, desc
	}
	if n, err := strconv.Atoi(v.Get("page")); err == nil && n > 1 {
		q.Page = n
	}
	return q
}

// arrange fills the list in from all resources: counts over everything, or all of the team that is chosen; rows of what
// matches. me is the reader's username. A page beyond the end becomes the last one.
func arrange(list *views.List, all []views.Resource, me string) {
	all = slices.DeleteFunc(slices.Clone(all), func(r views.Resource) bool { return list.Query.Team != "" && r.Team != list.Query.Team })
	list.Counts = countsOf(all)
	list.Total = len(all)
	matching := slices.DeleteFunc(all, func(r views.Resource) bool { return !matches(list, r, me) })
	list.Matches = len(matching)
	order(matching, list.Query)
	list.Pages = max(1, (len(matching)+pageSize-1)/pageSize)
	list.Query.Page = min(max(1, list.Query.Page), list.Pages)
	from := (list.Query.Page - 1) * pageSize
	list.Rows = matching[from:min(from+pageSize, len(matching))]
}

// countsOf counts by phase. Paused is counted only where it occurs; the others are always there, so that nothing jumps.
func countsOf(all []views.Resource) []views.Count {
	n := map[phase.Phase]int{}
	for _, r := range all {
		n[r.Phase]++
	}
	counts := []views.Count{}
	for _, p := range []phase.Phase{phase.NeedsYou, phase.InProgress, phase.Ready, phase.Deleting} {
		counts = append(counts, views.Count{Phase: p, N: n[p]})
	}
	return counts
}

func matches(list *views.List, r views.Resource, me string) bool {
	q := list.Query
	if q.Kind != "" && q.Kind != r.Plural || q.Phase != "" && q.Phase != r.Phase.Slug() || q.Mine && r.Requester != me {
		return false
	}
	text := r.Name + " " + r.Kind + " " + r.Endpoint + " " + r.RequestedBy + " " + r.Provider
	if list.Everywhere {
		text += " " + r.Team
	}
	return prose.HasWords(q.Search, text)
}

// orders are what the list sorts by: by phase first what needs attention, by age the youngest.
var orders = map[string]func(a, b views.Resource) int{
	views.SortStatus: func(a, b views.Resource) int { return cmp.Compare(a.Phase.Urgency(), b.Phase.Urgency()) },
	views.SortName:   func(a, b views.Resource) int { return cmp.Compare(a.Name, b.Name) },
	views.SortTeam:   func(a, b views.Resource) int { return cmp.Compare(a.Team, b.Team) },
	views.SortKind:   func(a, b views.Resource) int { return cmp.Compare(a.Kind, b.Kind) },
	views.SortEnd:    func(a, b views.Resource) int { return emptyLast(a.Endpoint, b.Endpoint) },
	views.SortBy:     func(a, b views.Resource) int { return emptyLast(a.RequestedBy, b.RequestedBy) },
	views.SortAge:    func(a, b views.Resource) int { return b.Created.At.Compare(a.Created.At) },
}

// emptyLast compares texts; one that is not there comes after all others.
func emptyLast(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// order sorts by the query's key; equal rows by name, so that the order never wavers.
func order(rows []views.Resource, q views.Query) {
	by := orders[cmp.Or(q.Sort, views.SortStatus)]
	slices.SortFunc(rows, func(a, b views.Resource) int {
		c := by(a, b)
		if q.Desc {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a.Name, b.Name), cmp.Compare(a.Plural, b.Plural), cmp.Compare(a.Team, b.Team))
	})
}
