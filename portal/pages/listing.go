package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/overview"
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

// listed is an object in a list that may be long: what is shown of it is made for those that are shown.
type listed struct {
	*overview.Row
	kind *catalog.Kind
}

// arrange fills the list in from all objects: counts over everything, or all of the team that is chosen. It returns those
// of what matches that the page shows. me is the reader's username. A page beyond the end becomes the last one.
func arrange(list *views.List, all []listed, me string) []listed {
	all = slices.DeleteFunc(all, func(l listed) bool { return list.Query.Team != "" && l.Namespace != list.Query.Team })
	list.Counts = countsOf(all)
	list.Total = len(all)
	matching := slices.DeleteFunc(all, func(l listed) bool { return !matches(list, l, me) })
	list.Matches = len(matching)
	list.Pages = max(1, (len(matching)+pageSize-1)/pageSize)
	list.Query.Page = min(max(1, list.Query.Page), list.Pages)
	from := (list.Query.Page - 1) * pageSize
	return first(matching, from+pageSize, orderOf(list.Query))[from:]
}

// first are the first n in order. Of many it keeps only those while it looks: nobody needs the order of the others.
func first(all []listed, n int, order func(a, b listed) int) []listed {
	if len(all) < 8*n {
		slices.SortFunc(all, order)
		return all[:min(n, len(all))]
	}
	kept := make([]listed, 0, n+1)
	for _, l := range all {
		if len(kept) == n && order(l, kept[n-1]) >= 0 {
			continue
		}
		i, _ := slices.BinarySearchFunc(kept, l, order)
		kept = slices.Insert(kept, i, l)
		kept = kept[:min(n, len(kept))]
	}
	return kept
}

// countsOf counts by phase. Paused is counted only where it occurs; the others are always there, so that nothing jumps.
func countsOf(all []listed) []views.Count {
	n := map[phase.Phase]int{}
	for _, l := range all {
		n[l.Phase]++
	}
	counts := []views.Count{}
	for _, p := range []phase.Phase{phase.NeedsYou, phase.InProgress, phase.Ready, phase.Deleting} {
		counts = append(counts, views.Count{Phase: p, N: n[p]})
	}
	return counts
}

func matches(list *views.List, l listed, me string) bool {
	q := list.Query
	if q.Kind != "" && q.Kind != l.kind.Plural || q.Phase != "" && q.Phase != l.Phase.Slug() || q.Mine && l.Requester != me {
		return false
	}
	if q.Search == "" {
		return true
	}
	text := l.Name + " " + l.kind.Title + " " + l.Endpoint + " " + displayName(l.Requester) + " " + l.Provider
	if list.Everywhere {
		text += " " + l.Namespace
	}
	return prose.HasWords(q.Search, text)
}

// orders are what the list sorts by: by phase first what needs attention, by age the youngest.
var orders = map[string]func(a, b listed) int{
	views.SortStatus: func(a, b listed) int { return cmp.Compare(a.Phase.Urgency(), b.Phase.Urgency()) },
	views.SortName:   func(a, b listed) int { return cmp.Compare(a.Name, b.Name) },
	views.SortTeam:   func(a, b listed) int { return cmp.Compare(a.Namespace, b.Namespace) },
	views.SortKind:   func(a, b listed) int { return cmp.Compare(a.kind.Title, b.kind.Title) },
	views.SortEnd:    func(a, b listed) int { return emptyLast(a.Endpoint, b.Endpoint) },
	views.SortBy:     func(a, b listed) int { return emptyLast(displayName(a.Requester), displayName(b.Requester)) },
	views.SortAge:    func(a, b listed) int { return b.Created.Compare(a.Created) },
}

// emptyLast compares texts; one that is not there comes after all others.
func emptyLast(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// orderOf is by the query's key; equal rows by name, so that the order never wavers.
func orderOf(q views.Query) func(a, b listed) int {
	by := orders[cmp.Or(q.Sort, views.SortStatus)]
	return func(a, b listed) int {
		c := by(a, b)
		if q.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.kind.Plural, b.kind.Plural), cmp.Compare(a.Namespace, b.Namespace))
	}
}
