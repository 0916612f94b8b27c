package views

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/spoken"
)

// Resource is one row of the list.
type Resource struct {
	ID          string // stable for the object's life, fit for an id attribute
	Name        string
	Team        string // its ID; "" if unknown
	Href        string
	Kind        string // title of the kind, e.g. Bucket
	Plural      string // of the kind, e.g. s3buckets
	Icon        string
	Phase       phase.Phase
	Why         string // what the problem is and what to do; can be empty
	Brief       string // the first sentence of Why
	Leaving     bool   // it is being deleted
	Endpoint    string
	Provider    string // name of the AWSProvider, if any
	Requester   string // username, "" if unknown
	RequestedBy string // Requester as a name for people
	Created     Moment
	Took        string // time from the request until it was first Ready, "" if it never was
}

// Query is the filter and order of the list, as in the URL.
type Query struct {
	Search string
	Kind   string // plural, "" for every kind
	Phase  string // slug, or StuckStatus; "" for every phase
	Team   string // id, "" for every team
	// Provider is the name of the AWSProvider that a resource uses; "" does not filter.
	Provider string
	Mine     bool   // only what the reader requested
	Sort     string // one of the sort keys; "" is by status
	Desc     bool
	Batch    int // from 1
}

// The sort keys of the list; the default is by status, with what needs attention first.
const (
	SortStatus = "status"
	SortName   = "name"
	SortTeam   = "team"
	SortKind   = "kind"
	SortEnd    = "endpoint"
	SortBy     = "by"
	SortAge    = "age"
	SortTook   = "took"
)

// StuckStatus is the value of status in URLs for deletions that take too long.
const StuckStatus = "stuck"

// ByMe is the value of by in URLs for what the reader requested.
const ByMe = "me"

// Encode returns the query as in URLs: "", or a string that begins with "?".
func (q Query) Encode() string {
	v := url.Values{}
	set := func(key, value string) {
		if value != "" {
			v.Set(key, value)
		}
	}
	set("q", q.Search)
	set("kind", q.Kind)
	set("team", q.Team)
	set("provider", q.Provider)
	if q.Mine {
		set("by", ByMe)
	}
	set("status", q.Phase)
	set("sort", q.sortValue())
	if q.Batch > 1 {
		v.Set("page", strconv.Itoa(q.Batch))
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

func (q Query) sortValue() string {
	if q.Desc {
		return "-" + q.Sort
	}
	return q.Sort
}

// Filtered reports whether the query can hide resources.
func (q Query) Filtered() bool {
	return q.Search != "" || q.Kind != "" || q.Phase != "" || q.Team != "" || q.Provider != "" || q.Mine
}

func (q Query) withPhase(slug string) Query { q.Phase, q.Batch = slug, 1; return q }

// withSort returns the query sorted by key, in reverse if it is already sorted by key.
func (q Query) withSort(key string) Query {
	q.Desc = q.sortKey() == key && !q.Desc
	q.Sort, q.Batch = key, 1
	if key == SortStatus && !q.Desc {
		q.Sort = ""
	}
	return q
}

func (q Query) sortKey() string { return cmp.Or(q.Sort, SortStatus) }

// Count is the number of resources in a phase; "" is any phase.
type Count struct {
	Phase phase.Phase
	N     int
}

// Choice is one option of a filter.
type Choice struct{ Value, Label string }

// List is the page of a team's resources.
type List struct {
	Frame  Frame
	Query  Query
	Counts []Count
	Kinds  []Choice
	// Everywhere reports that this is the list of all teams. Teams are the choices of its filter.
	Everywhere bool
	// ViewOnly says why the reader cannot request anything here; "" if they can.
	ViewOnly string
	// Offered are the kinds of the catalog, with links to their forms.
	Offered []Tile
	Teams   []Choice
	Rows    []Resource
	Total   int  // of the chosen team's resources, or of all
	Matches int  // of those that match the query
	Batches int  // at least 1
	Barred  bool // the chosen team does not exist, or the reader has no access to it
	// Hidden are the kinds that the reader cannot list, in words. They are neither shown nor counted.
	Hidden []string
}

// intro returns the sentence above the list.
func (l List) intro() string {
	if l.Everywhere {
		return "Everything that " + plural(len(l.Teams), "team") + " run on, as far as you have access."
	}
	return "Everything " + l.Frame.Team.Name + " runs on, whether it was requested here, with the API or with kubectl."
}

func (l List) base() string { return TeamPath(l.Frame.Team.ID) }

func (l List) href(q Query) string { return l.base() + q.Encode() }

func (l List) batchHref(number int) string {
	q := l.Query
	q.Batch = number
	return l.href(q)
}

func (l List) liveHref() string { return l.base() + "/live" + l.Query.Encode() }

// heading returns the number of resources in words.
func (l List) heading() string {
	switch {
	case l.Query.Filtered():
		return strconv.Itoa(l.Matches) + " of " + plural(l.Total, "resource")
	default:
		return plural(l.Total, "resource")
	}
}

func (l List) ariaSort(key string) string {
	switch {
	case l.Query.sortKey() != key:
		return ""
	case l.Query.Desc:
		return "descending"
	default:
		return "ascending"
	}
}

// batchOf returns a heading, with the number of the batch if there are several.
func batchOf(heading string, number, count int) string {
	if count <= 1 {
		return heading
	}
	return heading + ", page " + strconv.Itoa(number) + " of " + strconv.Itoa(count)
}

// Plural returns a number of things in words.
func Plural(n int, one string) string { return plural(n, one) }

// between returns the separator after element i of n in a sentence: a comma, or last before the last element.
func between(i, n int, last string) string {
	switch n - i {
	case 1:
		return ""
	case 2:
		return last
	default:
		return ", "
	}
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// lowerFirst returns a title with a small first letter, for use in a sentence, unless it begins with an abbreviation.
func lowerFirst(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if word != "" && strings.ToLower(word[1:]) != word[1:] { // an abbreviation, or a name such as ConfigMap
		return s
	}
	return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
}

// article puts a or an before a title.
func article(title string) string { return spoken.A(lowerFirst(title)) }
