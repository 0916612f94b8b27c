package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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
	q := views.Query{Search: strings.TrimSpace(v.Get("q")), Kind: v.Get("kind"), Team: v.Get("team"), Provider: v.Get("provider"), Mine: v.Get("by") == views.ByMe, Page: 1}
	if len(q.Search) > 200 {
		q.Search = q.Search[:200]
	}
	if p, ok := phase.Parse(v.Get("status")); ok {
		q.Phase = p.Slug()
	} else if v.Get("status") == views.StuckStatus {
		q.Phase = views.StuckStatus
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

// viewing is who looks at a list, and when.
type viewing struct {
	username string
	now      time.Time
}

// arrange fills the list in from all objects, or all of the team that is chosen. Each count is of the rows that its link
// leads to: those that match all of the query but the status. It returns those of what matches that the page shows. A page
// beyond the end becomes the last one.
func arrange(list *views.List, all []listed, by viewing) []listed {
	all = slices.DeleteFunc(all, func(l listed) bool { return list.Query.Team != "" && l.Namespace != list.Query.Team })
	list.Total = len(all)
	matching := slices.DeleteFunc(all, func(l listed) bool { return !matches(list, l, by) })
	list.Counts = countsOf(matching)
	matching = slices.DeleteFunc(matching, func(l listed) bool { return !inStatus(l, list.Query.Phase, by.now) })
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

// countsOf counts all, and by phase. Every phase is always there, so that nothing jumps.
func countsOf(all []listed) []views.Count {
	n := overview.Counts{}
	for _, l := range all {
		n[l.Phase]++
	}
	return countsIn(n)
}

// inStatus tells what a status in the URL shows.
func inStatus(l listed, status string, now time.Time) bool {
	if status == views.StuckStatus {
		at := l.Object.GetDeletionTimestamp()
		return at != nil && stuck(at.Time, now)
	}
	return status == "" || status == l.Phase.Slug()
}

// matches tells what a query shows, whatever the status.
func matches(list *views.List, l listed, by viewing) bool {
	q := list.Query
	if q.Kind != "" && q.Kind != l.kind.Plural || q.Provider != "" && q.Provider != l.Provider || q.Mine && l.Requester != by.username {
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

// orders are what the list sorts by: by phase first what needs attention, by age the youngest, by the time that it took the slowest.
var orders = map[string]func(a, b listed) int{
	views.SortStatus: func(a, b listed) int { return cmp.Compare(a.Phase.Urgency(), b.Phase.Urgency()) },
	views.SortName:   func(a, b listed) int { return cmp.Compare(a.Name, b.Name) },
	views.SortTeam:   func(a, b listed) int { return cmp.Compare(a.Namespace, b.Namespace) },
	views.SortKind:   func(a, b listed) int { return cmp.Compare(a.kind.Title, b.kind.Title) },
	views.SortEnd:    func(a, b listed) int { return emptyLast(a.Endpoint, b.Endpoint) },
	views.SortBy:     func(a, b listed) int { return emptyLast(displayName(a.Requester), displayName(b.Requester)) },
	views.SortAge:    func(a, b listed) int { return b.Created.Compare(a.Created) },
	views.SortTook:   func(a, b listed) int { return cmp.Compare(b.Took, a.Took) }, // the slowest; last what never was ready
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
