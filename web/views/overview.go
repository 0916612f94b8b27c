package views

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/api/phase"
)

// AllTeams stands for every team in paths; no namespace can have this name.
const AllTeams = "-"

// PlatformTeam is the team in paths of cluster-scoped objects.
const PlatformTeam = "_platform"

// ListPath returns the path of the list of all teams' resources, filtered by q.
func ListPath(q Query) string { return TeamPath(AllTeams) + q.Encode() }

// Overview is the state of the whole platform.
type Overview struct {
	Counts []Count
	Hidden []string // kinds that the user cannot list everywhere: counts are incomplete
	Kinds  []Choice // columns of the table of health
	Teams  []TeamHealth
	// Failing are the objects that need attention, the longest first; FailingAll are links to all of them, with their
	// numbers.
	Failing    []Trouble
	FailingAll []Choice
	// Leaving are those whose deletion takes longer than Stuck says, as Failing are.
	Leaving         []Trouble
	LeavingAll      []Choice
	Stuck           string
	Times           []KindTimes
	Work            Work
	Providers       []ProviderUse
	ProvidersHidden bool // the reader may not list AWSProviders
	Shared          Shared
	Quotas          QuotaUses
}

// columns returns those of the table of health.
func (o Overview) columns() []column {
	all := textColumns("Team")
	for _, k := range o.Kinds {
		all = append(all, column{title: k.Label})
	}
	return all
}

// ifAllSeen returns the text for users who can see all kinds, or the other one.
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

// KindTimes are how long objects of a kind took to become ready.
type KindTimes struct {
	Kind, Icon string
	Slowest    string // address of the list of them, the slowest first
	N          int
	Known      bool // there are enough measurements; otherwise P50 and P95 are meaningless
	P50, P95   time.Duration
	Plot       Histogram
}

// measured returns the kinds with enough measurements.
func (o Overview) measured() []KindTimes {
	return slices.DeleteFunc(slices.Clone(o.Times), func(t KindTimes) bool { return !t.Known })
}

// unmeasured returns the other kinds.
func (o Overview) unmeasured() string {
	var names []string
	for _, t := range o.Times {
		if !t.Known {
			names = append(names, lowerFirst(t.Kind))
		}
	}
	return strings.Join(names, ", ")
}

// Work is what the operator does.
type Work struct {
	Known       bool // else it does not answer
	Leader      string
	Since       Moment
	Controllers []Controller
	Services    []Service
	Steps       int // that a Spark can have
}

// Controller is one controller of the operator.
type Controller struct {
	Name                     string
	Queued, Running, Workers int64
	Passes, Failures         int64
	Longest                  time.Duration // 0 if nothing is under way
	// All is the way to its resources, if they have a list. Failing is how many of them need somebody, and the way to
	// those; without words that is not known.
	All, Failing Choice
}

// rate returns the share of passes that failed, in words.
func (c Controller) rate() string {
	if c.Passes == 0 {
		return "none yet"
	}
	return strconv.FormatInt(c.Failures, 10) + " of " + strconv.FormatInt(c.Passes, 10) + ", " + percent(c.Failures, c.Passes)
}

// percent returns a share in percent, with one digit after the point where it is small.
func percent(n, of int64) string {
	share := float64(n) / float64(of) * 100
	if share > 0 && share < 10 {
		return strconv.FormatFloat(max(share, 0.1), 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(share, 'f', 0, 64) + " %"
}

// Service is what one service of AWS was asked in the last hour, as far as it is known.
type Service struct {
	Name, Href                 string
	Measured                   int // minutes; Calls, Failures and Throttled are of these and say nothing without any
	Calls, Failures, Throttled int64
	Since                      Asked // the leader started
	Spark                      Spark
	Minutes                    []Minute // the latest first
}

// Asked are numbers of calls.
type Asked struct{ Calls, Failures, Throttled int64 }

// Minute is what a service was asked in one.
type Minute struct {
	At    Moment // its end
	Known bool   // else the operator did not answer at its beginning or its end
	Asked
}

// words returns the numbers of a period in words.
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
	// Users leads to the resources that use it, with their number; without words nobody does. Pool leads to the load
	// balancers.
	Users, Pool Choice
	Teams       []Choice // with their numbers, the most first
	Others      string   // address of the users sorted by team, where there are more teams; else ""
}

// Shared is what teams share of the platform.
type Shared struct {
	Gateways, Broken   int // Broken need somebody
	Use                []Use
	Claims, Orphaned   int
	PoolHidden, Hidden bool // the reader may not list the pool, or the claims
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// Tally returns a name with a number.
func Tally(name string, n int) string { return name + " (" + strconv.Itoa(n) + ")" }

// QuotaUses are the fullest quotas, of Total.
type QuotaUses struct {
	Hidden bool // the reader may not list quotas
	Uses   []QuotaUse
	Total  int
}

// QuotaUse is how much of a quota is used.
type QuotaUse struct {
	ID       string
	Team, Of Choice // Of leads to what is counted, where there is a list of it
	Words    string // 3 of 10
	Percent  int    // 100 at most
	Known    bool   // else nobody has counted yet
	Full     bool
}
