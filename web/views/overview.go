package views

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/api/phase"
)

// AllTeams is the name of all teams in paths; no namespace can have it.
const AllTeams = "-"

// PlatformTeam is the team in paths of cluster-scoped objects.
const PlatformTeam = "_platform"

// ListPath returns the path of the list of all teams' resources, filtered by q.
func ListPath(q Query) string { return TeamPath(AllTeams) + q.Encode() }

// Overview is the state of the whole platform.
type Overview struct {
	Counts []Count
	Hidden []string // kinds that the user cannot list everywhere: counts are incomplete
	Kinds  []Choice // columns of the health table
	Teams  []TeamHealth
	// Failing are objects that need attention, the longest first. FailingAll are links to all of them, with their
	// numbers.
	Failing    []Trouble
	FailingAll []Choice
	// Leaving are objects whose deletion takes longer than Stuck, in the same form as Failing.
	Leaving         []Trouble
	LeavingAll      []Choice
	Stuck           string
	Times           []KindTimes
	Work            Work
	Providers       []ProviderUse
	ProvidersHidden bool // the reader cannot list AWSProviders
	Shared          Shared
	Quotas          QuotaUses
}

// columns returns the columns of the health table.
func (o Overview) columns() []column {
	all := textColumns("Team")
	for _, k := range o.Kinds {
		all = append(all, column{title: k.Label})
	}
	return all
}

// ifAllSeen returns words if the user can see all kinds, otherwise others.
func (o Overview) ifAllSeen(words, others string) string {
	if len(o.Hidden) == 0 {
		return words
	}
	return others
}

// TeamHealth is one team's row: a cell for each kind.
type TeamHealth struct {
	Team  string
	Cells []HealthCell
}

// HealthCell is the number of a team's objects of one kind, by phase, without zeros.
type HealthCell struct {
	Kind, Label string
	Counts      []Count
	Hidden      bool // the user cannot list them
}

// Trouble is one object with a problem.
type Trouble struct {
	ID, Name, Href, Kind, Icon, Team string
	Phase                            phase.Phase
	Why                              string
	Since                            Moment
	Finalizers                       []string // what its deletion waits for
}

// KindTimes describes how long objects of a kind took to become ready.
type KindTimes struct {
	Kind, Icon string
	Slowest    string // URL of their list, the slowest first
	N          int
	Known      bool // there are enough measurements; without them, P50 and P95 are meaningless
	P50, P95   time.Duration
	Plot       Histogram
}

// measured returns the kinds with enough measurements.
func (o Overview) measured() []KindTimes {
	return slices.DeleteFunc(slices.Clone(o.Times), func(t KindTimes) bool { return !t.Known })
}

// unmeasured returns the titles of the other kinds.
func (o Overview) unmeasured() string {
	var names []string
	for _, t := range o.Times {
		if !t.Known {
			names = append(names, lowerFirst(t.Kind))
		}
	}
	return strings.Join(names, ", ")
}

// Work describes what the operator is doing.
type Work struct {
	Known       bool // false: it does not respond
	Leader      string
	Since       Moment
	Controllers []Controller
	Services    []Service
	Steps       int // maximum number of steps in a Spark
}

// Controller is one controller of the operator.
type Controller struct {
	Name                     string
	Queued, Running, Workers int64
	Passes, Failures         int64
	Longest                  time.Duration // duration of the longest running pass, 0 for none
	// All links to its resources, if they have a list. Failing links to those that need somebody, with their number; no
	// label means that it is unknown.
	All, Failing Choice
}

// rate returns the share of passes that failed, in words.
func (c Controller) rate() string {
	if c.Passes == 0 {
		return "none yet"
	}
	return strconv.FormatInt(c.Failures, 10) + " of " + strconv.FormatInt(c.Passes, 10) + ", " +
		percent(c.Failures, c.Passes)
}

// percent returns a share in percent, below 10 % with one decimal.
func percent(n, of int64) string {
	share := float64(n) / float64(of) * 100
	if share > 0 && share < 10 {
		return strconv.FormatFloat(max(share, 0.1), 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(share, 'f', 0, 64) + " %"
}

// Service counts the calls to one AWS service in the last hour, as far as it is known.
type Service struct {
	Name, Href                 string
	Measured                   int // minutes that the counts cover; if 0, they are meaningless
	Calls, Failures, Throttled int64
	Since                      Asked // since the leader started
	Spark                      Spark
	Minutes                    []Minute // the latest first
}

// Asked counts calls.
type Asked struct{ Calls, Failures, Throttled int64 }

// Minute counts the calls to a service in one minute.
type Minute struct {
	At    Moment // its end
	Known bool   // false: the operator did not respond at its beginning or its end
	Asked
}

// words returns the counts in words.
func (a Asked) words() string {
	words := plural(int(a.Calls), "call")
	if a.Failures > 0 {
		words += ", " + strconv.FormatInt(a.Failures, 10) + " failed"
	}
	if a.Throttled > 0 {
		words += ", " + strconv.FormatInt(a.Throttled, 10) + " of them throttled"
	}
	return words
}

// ProviderUse is an AWS account and who uses it.
type ProviderUse struct {
	Resource                  Resource
	Account, Identity, Region string
	Checked                   Moment // zero if that is not known
	// Users links to the resources that use it, with their number; without a label, nothing does. Pool links to its
	// load balancers.
	Users, Pool Choice
	Teams       []Choice // with their numbers, the largest first
	Others      string   // URL of all users sorted by team, "" if Teams has all
}

// Shared are the parts of the platform that teams share.
type Shared struct {
	Gateways, Broken   int // Broken need somebody
	Use                []Use
	Claims, Orphaned   int
	PoolHidden, Hidden bool // the reader cannot list the pool, or the claims
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// Tally returns a name with a number.
func Tally(name string, n int) string { return name + " (" + strconv.Itoa(n) + ")" }

// QuotaUses are the fullest quotas, of Total.
type QuotaUses struct {
	Hidden bool // the reader cannot list quotas
	Uses   []QuotaUse
	Total  int
}

// QuotaUse is how much of a quota is used.
type QuotaUse struct {
	ID       string
	Team, Of Choice // Of links to the counted objects, if they have a list
	Words    string // 3 of 10
	Percent  int    // at most 100
	Known    bool   // false: not counted yet
	Full     bool
}
