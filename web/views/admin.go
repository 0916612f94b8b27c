package views

import (
	"net/url"
	"strconv"
)

// The tabs of the platform's page, as in URLs.
const (
	AdminOverview = "overview"

	AdminPool   = "pool"
	AdminClaims = "claims"
	AdminGrants = "grants"
)

// AdminTabs are all of them, in their order; the first one is the page itself.
func AdminTabs() []string { return []string{AdminOverview, AdminPool, AdminClaims, AdminGrants} }

// Admin is the page of those who look after the platform.
type Admin struct {
	Frame    Frame
	Tab      string
	Search   string
	Orphaned bool // only claims that nobody holds any more
	Page     int  // of claims, from 1
	Pages    int  // at least 1
	Overview Overview
	Unknown  bool      // the operator does not say which of its parts are off
	Off      []Feature // those that are
	Hidden   bool      // the reader may not list all that the tab is about
	Gateways []Gateway
	Claims   []Claim
	Matches  int // claims that match the search
	Total    int // claims in all
	// OrphanedTotal is how many claims nobody holds any more.
	OrphanedTotal int
	Grants        []Grant
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
	N, Most int
}

// share is the use in words.
func (u Use) share() string {
	words := strconv.Itoa(u.N) + " of " + strconv.Itoa(u.Most)
	if u.N >= u.Most {
		words += ", full"
	}
	return words
}

// Claim is a hostname and who has it.
type Claim struct {
	Resource             Resource
	Hostname, Visibility string
	Holder, Gateway      Choice // Value may be "": there is no page to go to
	Look                 Look
}

// Grant is what hostnames a team may have.
type Grant struct {
	Resource  Resource
	Team      string
	Suffixes  string
	Wildcards bool
	Limits    []string
	InUse     []string
	Hostnames int // that are in use; InUse may list fewer
}

func adminHref(tab string) string {
	if tab == AdminTabs()[0] {
		return AdminPath
	}
	return AdminPath + "/" + tab
}

// OrphanedStatus is the value of status in URLs that shows only claims that nobody holds any more.
const OrphanedStatus = "orphaned"

// values are what the URL says beside the tab.
func (a Admin) values() url.Values {
	v := url.Values{}
	if a.Search != "" {
		v.Set("q", a.Search)
	}
	if a.Orphaned {
		v.Set("status", OrphanedStatus)
	}
	if a.Page > 1 {
		v.Set("page", strconv.Itoa(a.Page))
	}
	return v
}

// Href is the address of what is shown.
func (a Admin) Href() string {
	v := a.values()
	if len(v) == 0 {
		return adminHref(a.Tab)
	}
	return adminHref(a.Tab) + "?" + v.Encode()
}

func (a Admin) liveHref() string {
	v := a.values()
	v.Set("tab", a.Tab)
	return AdminPath + "/live?" + v.Encode()
}

func (a Admin) withPage(n int) Admin { a.Page = n; return a }

// claimsHeading says how many claims there are.
func (a Admin) claimsHeading() string {
	if a.Search != "" || a.Orphaned {
		return strconv.Itoa(a.Matches) + " of " + plural(a.Total, "claim")
	}
	return plural(a.Total, "claim")
}
