package views

import (
	"net/url"
	"strconv"
	"strings"
)

// Teams is the page for finding a team.
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
	Counts []Count  // by phase, without zeros
	Hidden []string // kinds that the reader cannot list, in words; not counted
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

// Href returns the URL of the shown list.
func (t Teams) Href() string { return t.href(t.Batch) }

// heading returns the number of teams in words.
func (t Teams) heading() string {
	if t.Search != "" {
		return strconv.Itoa(t.Matches) + " of " + plural(t.Total, "team")
	}
	return plural(t.Total, "team")
}

// About is the page about what a team can have, and how to access it.
type About struct {
	Frame  Frame
	Quotas QuotaUses
	// Providers are the AWS accounts that the team can use.
	Providers       []Account
	ProvidersHidden bool
	// Hostnames are those that the team can have; nil: none.
	Hostnames       *Grant
	HostnamesHidden bool
	Members         []Role
	MembersHidden   bool
	MaySetSecrets   bool
	Activity        Activity
	Tools           []Tool
}

// Account is an AWS account that a team can use.
type Account struct {
	Name, Account, Why string
	Regions            []string // the default one first
	Ready              bool
}

// Role is a role in the team's namespace, and who has it.
type Role struct {
	Name, What string
	Who        []Subject
}

// Subject is a user or group with a role.
type Subject struct{ Kind, Name, Called string }

// Tool is a way to access the team's resources: commands to copy, and their requirements.
type Tool struct {
	Command Command
	Needs   string
}
