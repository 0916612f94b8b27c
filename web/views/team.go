package views

import (
	"net/url"
	"strconv"
	"strings"
)

// Teams is the page on which one looks for a team.
type Teams struct {
	Frame   Frame
	Search  string
	Rows    []TeamRow
	Matches int
	Total   int
	Batch   int // from 1
	Batches int // at least 1
}

// TeamRow is one team with the numbers of its resources.
type TeamRow struct {
	Team   Team
	Counts []Count  // by phase, without those that it has none of
	Hidden []string // kinds that the reader may not list, in words: not counted
}

func (t Teams) liveHref() string {
	return TeamsPath + "/_live" + strings.TrimPrefix(t.Href(), TeamsPath)
}

func (t Teams) href(batch int) string {
	v := url.Values{}
	if t.Search != "" {
		v.Set("q", t.Search)
	}
	if batch > 1 {
		v.Set("page", strconv.Itoa(batch))
	}
	if len(v) == 0 {
		return TeamsPath
	}
	return TeamsPath + "?" + v.Encode()
}

// Href returns the address of what is shown.
func (t Teams) Href() string { return t.href(t.Batch) }

// heading says how many teams there are.
func (t Teams) heading() string {
	if t.Search != "" {
		return strconv.Itoa(t.Matches) + " of " + plural(t.Total, "team")
	}
	return plural(t.Total, "team")
}

// About is the page of what a team may have, and how to reach it.
type About struct {
	Frame  Frame
	Quotas QuotaUses
	// Providers are the AWS accounts that the team may use.
	Providers       []Account
	ProvidersHidden bool
	// Hostnames is what the team may have; nil, none.
	Hostnames       *Grant
	HostnamesHidden bool
	Members         []Role
	MembersHidden   bool
	MaySetSecrets   bool
	Activity        Activity
	Tools           []Tool
}

// Account is an AWS account that a team may use.
type Account struct {
	Name, Account, Why string
	Regions            []string // the default one first
	Ready              bool
}

// Role is who has a role in the team's namespace.
type Role struct {
	Name, What string
	Who        []Subject
}

// Subject is somebody with a role.
type Subject struct{ Kind, Name, Called string }

// Tool is a way to the team's resources: lines to copy, and what they need.
type Tool struct {
	Command Command
	Needs   string
}
