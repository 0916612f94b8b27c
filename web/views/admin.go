package views

import (
	"net/url"
	"strconv"

	"github.com/portico-platform/portico/api/phase"
)

// The tabs of the platform's page, as in URLs.
const (
	AdminOverview = "overview"

	AdminTeams  = "teams"
	AdminPool   = "pool"
	AdminClaims = "claims"
	AdminGrants = "grants"
	AdminQuotas = "quotas"
	AdminRights = "rights"
	AdminCalls  = "calls"
	// AdminActivity is the recent activity in all namespaces.
	AdminActivity = "activity"
)

// AdminTabs returns all tabs, in their order; the first one is the page itself.
func AdminTabs() []string {
	return []string{
		AdminOverview, AdminTeams, AdminPool, AdminClaims, AdminGrants, AdminQuotas, AdminRights,
		AdminCalls, AdminActivity,
	}
}

// adminTitles are the titles of tabs.
var adminTitles = map[string]string{
	AdminOverview: "Overview", AdminTeams: "Teams", AdminPool: "Gateway pool", AdminClaims: "Claims",
	AdminGrants: "Hostname grants",
	AdminQuotas: "Quotas", AdminRights: "Rights of Pods", AdminCalls: "AWS calls", AdminActivity: "Activity",
}

// AdminTitle returns the tab's part of its page's title, "" for the first tab.
func AdminTitle(tab string) string {
	if tab == AdminOverview {
		return ""
	}
	return adminTitles[tab]
}

// AdminQuery is a tab's query in the URL. Each tab uses some of its fields.
type AdminQuery struct {
	Search   string // of claims, teams or rights
	Orphaned bool   // only claims without a holder
	Broken   bool   // only load balancers that need attention
	Unused   bool   // only rights that have been unused for long
	Gateway  string // only claims that this load balancer serves
	Provider string // only load balancers of that AWSProvider
	Service  string // AWS service whose calls are shown
	Batch    int    // from 1
}

// Admin is the page of platform admins.
type Admin struct {
	Frame Frame
	Tab   string
	AdminQuery
	Batches  int // at least 1
	Overview Overview
	// SignInAway is how long the identity provider has not answered; "" if it answers.
	SignInAway string
	Unknown    bool      // it is unknown which parts of the operator are off
	Off        []Feature // the parts that are off
	Hidden     bool      // the user cannot list all objects of the tab
	Gateways   []Gateway
	Claims     []Claim
	Quotas     QuotaUses
	Work       Work // the tab uses its services
	Matches    int  // rows on all pages, of Total
	Total      int
	// OrphanedTotal is the number of claims without a holder.
	OrphanedTotal int
	Grants        []Grant
	Activity      []ActivityRow
	// Rights are the AWS rights of Pods, by account.
	Rights         []Right
	RightsAccounts []RightsAccount
	Owners         []OwnerRow
	MayCreate      bool // the user can create Teams
	// MayEndSessions reports that the user can end the sessions of users.
	MayEndSessions bool
}

// Feature is a part of the operator.
type Feature struct{ Name, Why string }

// Gateway is one load balancer of the pool.
type Gateway struct {
	Resource          Resource
	Class, Visibility string
	Place             string // account and region
	Address           string
	Use               []Use
}

// Use is how much of a limit is used.
type Use struct {
	Of      string
	Href    string // URL of the list of users, "" for none
	N, Most int
}

// share returns the use as text.
func (u Use) share() string {
	words := strconv.Itoa(u.N) + " of " + strconv.Itoa(u.Most)
	if u.N >= u.Most {
		words += ", full"
	}
	return words
}

// Claim is a hostname and its holder.
type Claim struct {
	Resource             Resource
	Hostname, Visibility string
	Holder, Gateway      Choice // Value is "" if there is no page to link to
	Look                 Look
}

// Grant describes the hostnames that a team can use.
type Grant struct {
	Resource  Resource
	Team      string
	Suffixes  string
	Wildcards bool
	Limits    []string
	InUse     []string
	Hostnames int // in use; InUse can list fewer
}

func adminHref(tab string) string {
	if tab == AdminTabs()[0] {
		return AdminPath
	}
	return AdminPath + "/" + tab
}

// OrphanedStatus is the value of status in URLs for claims without a holder.
const OrphanedStatus = "orphaned"

// AdminHref returns the URL of a tab with a query.
func AdminHref(tab string, q AdminQuery) string {
	v := q.values()
	if len(v) == 0 {
		return adminHref(tab)
	}
	return adminHref(tab) + "?" + v.Encode()
}

// values returns the query parameters of the URL.
func (q AdminQuery) values() url.Values {
	v := url.Values{}
	for key, value := range map[string]string{
		"q": q.Search, "gateway": q.Gateway, "provider": q.Provider,
		"service": q.Service,
	} {
		if value != "" {
			v.Set(key, value)
		}
	}
	switch {
	case q.Orphaned:
		v.Set("status", OrphanedStatus)
	case q.Broken:
		v.Set("status", phase.NeedsYou.Slug())
	case q.Unused:
		v.Set("status", UnusedStatus)
	}
	if q.Batch > 1 {
		v.Set("page", strconv.Itoa(q.Batch))
	}
	return v
}

// filtered reports whether the query hides any rows.
func (q AdminQuery) filtered() bool {
	return q.Search != "" || q.Orphaned || q.Broken || q.Unused || q.Gateway != "" || q.Provider != ""
}

// Href returns the URL of the query.
func (a Admin) Href() string { return AdminHref(a.Tab, a.AdminQuery) }

func (a Admin) liveHref() string {
	v := a.values()
	v.Set("tab", a.Tab)
	return AdminPath + "/live?" + v.Encode()
}

func (a Admin) batchHref(number int) string { a.Batch = number; return a.Href() }

// heading returns the number of the tab's rows.
func (a Admin) heading(one string) string {
	if a.filtered() {
		return strconv.Itoa(a.Matches) + " of " + plural(a.Total, one)
	}
	return plural(a.Total, one)
}

// callsOf returns the service whose calls are shown: the chosen one, or the first.
func (a Admin) callsOf() (Service, bool) {
	for _, s := range a.Work.Services {
		if s.Name == a.Service || a.Service == "" {
			return s, true
		}
	}
	return Service{}, false
}
