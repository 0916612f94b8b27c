package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/listing"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// batchLimit is the number of rows on a page of the list.
const batchLimit = 25

// queryOf parses the list's query from the URL. It ignores unknown values, so that old bookmarks work.
func queryOf(v url.Values) views.Query {
	q := views.Query{
		Search: page.Search(v), Kind: v.Get("kind"), Team: v.Get("team"), Provider: v.Get("provider"),
		Mine: v.Get("by") == views.ByMe, Batch: page.Batch(v),
	}
	if p, ok := phase.Parse(v.Get("status")); ok {
		q.Phase = p.Slug()
	} else if v.Get("status") == views.StuckStatus {
		q.Phase = views.StuckStatus
	}
	key, desc := strings.CutPrefix(v.Get("sort"), "-")
	if _, known := orders[key]; known && v.Get("sort") != views.SortStatus { // that is the default
		q.Sort, q.Desc = key, desc
	}
	return q
}

// viewer is the caller of a list, and the time.
type viewer struct {
	username string
	now      time.Time
}

// arrange fills the list from all objects, or all of the selected team. Each count is of the rows that its link shows:
// those that match the query except for the status. It returns the rows of the page. A page beyond the end becomes the
// last one.
func arrange(list *views.List, all []listing.Item, by viewer) []listing.Item {
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
	shown := listing.BatchOf(len(matching), batchLimit, q.Batch)
	q.Batch, list.Batches = shown.Number, shown.Count
	return listing.First(matching, shown.To, orders[cmp.Or(q.Sort, views.SortStatus)].Then(q.Desc))[shown.From:]
}

// countsOf returns the number of all rows, and by phase. Every phase is included, so that the layout does not change.
func countsOf(all []listing.Item) []views.Count {
	n := make([]int, 1+len(phase.All())) // by urgency: a map would be as slow as reading the rows
	for _, l := range all {
		n[1+l.Phase.Urgency()]++
	}
	counts := overview.Counts{}
	for _, is := range phase.All() {
		counts[is] = n[1+is.Urgency()]
	}
	return page.CountsIn(counts)
}

// inStatus reports whether the row matches a status in the URL.
func inStatus(l listing.Item, status string, now time.Time) bool {
	if status == views.StuckStatus {
		at := l.Object.GetDeletionTimestamp()
		return at != nil && page.Stuck(at.Time, now)
	}
	return status == "" || status == l.Phase.Slug()
}

// orders are the sort orders of the list.
var orders = map[string]listing.Compare{
	views.SortStatus: listing.ByStatus,
	views.SortName:   listing.ByName,
	views.SortTeam:   listing.ByNamespace,
	views.SortKind:   listing.ByTitle,
	views.SortEnd:    listing.ByEndpoint,
	views.SortAge:    listing.ByAge,
	views.SortTook:   listing.ByTook,
	views.SortBy: func(a, b listing.Item) int {
		return listing.EmptyLast(humanize.Person(a.Requester), humanize.Person(b.Requester))
	},
}
