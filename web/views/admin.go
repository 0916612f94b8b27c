package views

import (
	"net/url"
	"strconv"
)

// The tabs of the platform's page, as in URLs.
const (
	AdminPool   = "pool"
	AdminClaims = "claims"
	AdminGrants = "grants"
)

// AdminTabs are all of them, in their order; the first one is the page itself.
func AdminTabs() []string { return []string{AdminPool, AdminClaims, AdminGrants} }

// Admin is the page of those who look after the platform.
type Admin struct {
	Frame    Frame
	Tab      string
	Search   string
	Unknown  bool      // the operator does not say which of its parts are off
	Off      []Feature // those that are
	Hidden   bool      // the reader may not list all that the tab is about
	Gateways []Gateway
	Claims   []Claim
	Matches  int // claims that match the search
	Total    int // claims in all
	Grants   []Grant
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

// Href is the address of what is shown.
func (a Admin) Href() string {
	if a.Search == "" {
		return adminHref(a.Tab)
	}
	return adminHref(a.Tab) + "?" + url.Values{"q": {a.Search}}.Encode()
}

func (a Admin) liveHref() string {
	return AdminPath + "/live?" + url.Values{"tab": {a.Tab}, "q": {a.Search}}.Encode()
}

// claimsHeading says how many claims there are.
func (a Admin) claimsHeading() string {
	switch {
	case a.Matches > len(a.Claims):
		return "the first " + strconv.Itoa(len(a.Claims)) + " of " + plural(a.Matches, "claim") + ": search for others"
	case a.Search != "":
		return strconv.Itoa(a.Matches) + " of " + plural(a.Total, "claim")
	}
	return plural(a.Total, "claim")
}
