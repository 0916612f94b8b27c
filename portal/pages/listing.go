package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/portal/listing"
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

// viewing is who looks at a list, and when.
type viewing struct {
	username string
	now      time.Time
}

// arrange fills the list in from all objects, or all of the team that is chosen. Each count is of the rows that its link
// leads to: those that match all of the query but the status. It returns those of what matches that the page shows. A page
// beyond the end becomes the last one.
func arrange(list *views.List, all []listing.Item, by viewing) []listing.Item {
	q := &list.Query
	all = (&listing.Filter{Namespace: q.Team}).Of(all)
	list.Total = len(all)
	filter := listing.Filter{Kind: q.Kind, Provider: q.Provider, Words: q.Search, Across: list.Everywhere}
	if q.Mine {
		filter.Requester = by.username
	}
	matching := filter.Of(all)
	list.Counts = countsOf(matching)
	matching = slices.DeleteFunc(matching, func(l listing.Item) bool { return !inStatus(l, q.Phase, by.now) })
	list.Matches = len(matching)
	list.Pages = max(1, (len(matching)+pageSize-1)/pageSize)
	q.Page = min(max(1, q.Page), list.Pages)
	from := (q.Page - 1) * pageSize
	return listing.First(matching, from+pageSize, orders[cmp.Or(q.Sort, views.SortStatus)].Then(q.Desc))[from:]
}

// countsOf counts all, and by phase. Every phase is always there, so that nothing jumps.
func countsOf(all []listing.Item) []views.Count {
	n := make([]int, 1+len(phase.All())) // by urgency: to count thousands in a map takes as long as to read them
	for _, l := range all {
		n[1+l.Phase.Urgency()]++
	}
	counts := overview.Counts{}
	for _, is := range phase.All() {
		counts[is] = n[1+is.Urgency()]
	}
	return countsIn(counts)
}

// inStatus tells what a status in the URL shows.
func inStatus(l listing.Item, status string, now time.Time) bool {
	if status == views.StuckStatus {
		at := l.Object.GetDeletionTimestamp()
		return at != nil && stuck(at.Time, now)
	}
	return status == "" || status == l.Phase.Slug()
}

// orders are what the list sorts by.
var orders = map[string]listing.Compare{
	views.SortStatus: listing.ByStatus,
	views.SortName:   listing.ByName,
	views.SortTeam:   listing.ByNamespace,
	views.SortKind:   listing.ByTitle,
	views.SortEnd:    listing.ByEndpoint,
	views.SortAge:    listing.ByAge,
	views.SortTook:   listing.ByTook,
	views.SortBy: func(a, b listing.Item) int {
		return listing.EmptyLast(prose.Person(a.Requester), prose.Person(b.Requester))
	},
}
