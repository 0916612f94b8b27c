package views

import "strings"

// OwnerView is the page of a Team, to which namespaces belong.
type OwnerView struct {
	Frame    Frame
	Owner    Owner
	Name     string
	ETag     string
	Applied  int64  // generation of a change that the cache does not have yet; 0 for none
	Prefix   string // of the names of users and groups
	Resource Resource
	Steps    []Step
	Members  []TeamMember
	Form     MemberForm
	// Deployers are the pipelines of the Team, Deployer is the form for another one, DeployerRoles are what one can do,
	// and Workflows are what a pipeline has to contain.
	Deployers     []Deployer
	Deployer      DeployerForm
	DeployerRoles []Choice
	Workflows     []Command

	Accounts []Account // AWS accounts that it can use

	Activity   Activity // in its namespaces
	Namespaces []OwnedNamespace
	First      string // URL of the catalog while there are no resources; "" for users who cannot request any
	Held       int    // number of its resources
	Leaving    bool   // it is being deleted

	MayManage, MayAdminister, MayDelete bool
	MayEndSessions                      bool // of any user, so also of its members
}

// TeamMember is a group or a user with a role in a Team.
type TeamMember struct {
	Kind   string // group or user
	Name   string // as in Kubernetes
	Short  string // as at the identity provider
	Called string // name for people, "" if unknown
	Role   string
}

// MemberForm is the form that changes the members.
type MemberForm struct {
	ETag, Do, Kind, Name, Role string
	Errors                     []string
	Problem                    string // of the page as a whole
	Warning                    string // what must be confirmed
}

// OwnedNamespace is a namespace in the spec of a Team.
type OwnedNamespace struct {
	Team        Team
	There       bool // the Team has it
	Environment string
	Counts      []Count
	Quotas      QuotaUses
}

// TeamRoles are the roles of members, the one with the least rights first.
var TeamRoles = []Choice{
	{Value: "Viewer", Label: "can look"},
	{Value: "Developer", Label: "can request, change and delete"},
	{Value: "Owner", Label: "a developer who decides who the members are"},
}

// roleWords returns what a role allows.
func roleWords(role string) string {
	for _, r := range TeamRoles {
		if r.Value == role {
			return r.Label
		}
	}
	return ""
}

func (o OwnerView) path() string { return OwnerPath(o.Name) }

func (o OwnerView) liveHref() string {
	if o.Applied > 0 {
		return AppliedPath(o.path()+"/live", o.Applied)
	}
	return o.path() + "/live"
}

func (m TeamMember) id() string {
	return "member-" + m.Kind + "-" + ID(strings.NewReplacer("@", "-", ":", "-", "/", "-", " ", "-").Replace(m.Short))
}

// SuspendView is the page that asks for confirmation before a Team is suspended or resumed.
type SuspendView struct {
	Frame   Frame
	Owner   Owner
	ETag    string
	Problem string
}

// OwnerRow is a Team in the list of all.
type OwnerRow struct {
	Resource   Resource
	Owner      Owner
	Name       string
	Namespaces []Choice
	Members    int
	Counts     []Count
	Fullest    *QuotaUse // of its quotas; nil: it has none that the reader can see
}

func memberColumns(actions bool) []column {
	all := textColumns("Member", "Role")
	if actions {
		all = append(all, column{title: "Change", unseen: true})
	}
	return all
}

// entered returns the value of the input for another member: the name that could not be added, or "".
func (o OwnerView) entered() string {
	if o.Form.Do == "add" {
		return o.Form.Name
	}
	return ""
}

// role returns the role that is chosen for another member.
func (o OwnerView) role() string {
	if o.Form.Do == "add" && o.Form.Role != "" {
		return o.Form.Role
	}
	return "Developer"
}

// where returns the regions of an account in words.
func (a Account) where() string {
	if len(a.Regions) == 0 {
		return "all regions that it allows"
	}
	return strings.Join(a.Regions, ", ")
}

func (s SuspendView) verb() string {
	if s.Owner.Suspended {
		return "Resume"
	}
	return "Suspend"
}

// effects returns what happens to the members, and to what runs.
func (s SuspendView) effects() []Effect {
	if s.Owner.Suspended {
		return []Effect{{Icon: "check", Tone: "good", Text: "Its members have their roles again, within seconds."}}
	}
	return []Effect{
		{Icon: "lock", Tone: "warn", Text: "Its members and deployers can look, but not request, change or delete anything; owners cannot change the members. It takes some seconds."},
		{Icon: "check", Tone: "good", Text: "Everything keeps running: nothing is stopped or deleted."},
		{Icon: "info", Tone: "idle", Text: "Roles that others bound in its namespaces, such as those of tools, stay as they are."},
	}
}
