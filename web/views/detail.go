package views

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/portico-platform/portico/api/phase"
)

// Step is one step of a resource's progress.
type Step struct {
	Title string
	Text  string
	Icon  string // check, spin, alert, wait
	Tone  string // good, busy, bad, idle
	State string // the icon as a word, for screen readers
	At    Moment
}

// StepDone is the state of a completed step.
const StepDone = "done"

// Fact is one line of a resource's details.
type Fact struct {
	Label string
	Value string
	Code  bool   // shown as code
	Note  string // after the value
	Link  string // URL of the value, "" for none
	At    Moment // instead of Value
	Ahead bool   // At is in the future
	Due   bool   // it will be known later
}

// waits reports whether the value is not known yet.
func (f Fact) waits() bool { return f.Due && f.Value == "" && f.At.At.IsZero() }

// Inspection describes the operator's checks of a resource.
type Inspection struct {
	Unknown string // why nothing is known; the other fields are empty then
	Facts   []Fact
	Planned Moment // when a check last found something to change
	Plan    []Action
}

// Action is one change that a check planned.
type Action struct{ Call, Why string }

// Relation is an object that this one uses, or that uses this one.
type Relation struct {
	Role     string // e.g. Dead letter queue
	Resource Resource
	Missing  bool // the object does not exist; only its name is known
	Hidden   bool // the user cannot see it; only its name is known
	// Purpose is what the object that uses the other does with it in AWS, as words that follow "to"; empty if unknown.
	Purpose string
}

// Users are the users of an object that the caller can see.
type Users struct {
	First  []Relation // all, or the first few
	Total  int
	List   Choice   // link to the list of those that are resources, with their number; without a URL, First has all
	Hidden []string // kinds that the user cannot list, or not everywhere
	Wait   bool     // deletion waits until nothing uses the object
}

// Happening is one event about a resource.
type Happening struct {
	Reason  string
	Text    string
	Warning bool
	Done    bool // an action of a user through the portal
	Count   int32
	At      Moment
}

// Times returns how often it happened, "" for once.
func (h Happening) Times() string { return times(h.Count) }

// The tabs of a resource.
const (
	TabOverview   = "overview"
	TabLogs       = "logs" // for kinds that run in Pods; a separate page
	TabObjects    = "objects"
	TabConditions = "conditions"
	TabEvents     = "events"
	TabActivity   = "activity"
	TabHistory    = "history"
	TabYAML       = "yaml"
)

// Tabs returns all tabs of a resource except for the overview, in their order.
func Tabs() []string {
	return []string{TabObjects, TabConditions, TabEvents, TabActivity, TabHistory, TabYAML}
}

// tabTitles are the titles of the tabs.
var tabTitles = map[string]string{
	TabOverview: "Overview", TabLogs: "Logs", TabObjects: "Parts", TabConditions: "Status details", TabEvents: "Events",
	TabActivity: "Activity", TabHistory: "History", TabYAML: "YAML",
}

// latest returns the three newest events that differ from the headline, and a message if there are none.
func (d Detail) latest() (events []Happening, none string) {
	for _, e := range d.Events {
		if e.Text != d.Headline && len(events) < 3 {
			events = append(events, e)
		}
	}
	if len(d.Events) > 0 {
		return events, "No other recent events."
	}
	return nil, d.NoEvents
}

// TabTitle returns the tab's part of its page's title, "" for the overview.
func TabTitle(tab string) string {
	if tab == TabOverview {
		return ""
	}
	return tabTitles[tab]
}

// Node is an object in a tree, with the objects that were created for it or that it is bound to.
type Node struct {
	Role  string // relation to the parent object, "" if it was created for that
	Kind  string
	Name  string
	Href  string // "" if it has no page
	Look  Look
	Text  string
	Nodes []Node
}

// Turn is a condition with the time of its last change.
type Turn struct {
	Title, Type, Status, Reason, Text string
	Icon, Tone                        string
	At                                Moment
}

// Deed is an event or an action about a resource.
type Deed struct {
	Title, Text string
	Icon, Tone  string
	At          Moment
	Plan        []Action
}

// Detail is the page of one resource.
type Detail struct {
	Frame     Frame
	Tab       string
	Resource  Resource
	Headline  string // the state in one short sentence
	Advice    string // what happens next, or what to do; can be empty
	UID       string
	Applied   int64 // generation of a change that the cache does not have yet; 0 for none
	Paused    bool
	Gone      bool // it was deleted while the page was open
	Replaced  bool // another object has its name now
	MayUpdate bool
	MayEdit   bool   // there is a form for it
	Another   string // URL of the form for a copy, "" without the right
	MayDelete bool
	// Keeper is the controller of a kind of others, with the URL of a page about it if there is one.
	Keeper Choice
	Cannot string // why some actions are not possible; "" if all are
	// Runs reports that it runs in Pods; MayRestart and App are only for such kinds.
	Runs       bool
	MayRestart bool
	App        *App
	Hostname   *Hostname // nil for other kinds
	Connect    *Connect  // nil while there are no connection details
	Steps      []Step
	Progress   string // about the observed generation, e.g. "change not applied yet"
	Facts      []Fact
	Related    []Relation
	Users      Users     // also in Related
	Blocker    *Relation // object that it refers to and that is not ready; nil: none
	Tree       Node      // on its tab
	Turns      []Turn    // on their tab
	Deeds      []Deed    // on their tab
	History    History   // on its tab
	Changes    int64     // of the spec since it was requested
	MayKeep    bool      // its deletion can be cancelled
	Kept       bool      // its deletion was cancelled
	Recreate   string    // number that acknowledges a new, empty resource; "" if there is none
	Checks     Inspection
	Events     []Happening
	NoEvents   string // why there are none to see
	YAML       string
	Commands   []Command
}

// Hostname is the part of a hostname's page that pages of other resources do not have.
type Hostname struct {
	ParentRef   Command // for a route; without text while there is no listener
	Route       Command // a whole route
	Use         string  // URL of the form for a web app with the hostname, "" without the right
	Certificate []Fact  // none before one was requested
	Holder      Choice  // the request that holds the name instead, if the user can see it
}

// tabs returns the tabs of the resource, in their order.
func (d Detail) tabs() []string {
	if d.Keeper.Label != "" { // Portico keeps no history of it
		without := slices.DeleteFunc(Tabs(), func(t string) bool { return t == TabHistory || t == TabActivity })
		return append([]string{TabOverview}, without...)
	}
	if d.Runs {
		return append([]string{TabOverview, TabLogs}, Tabs()...)
	}
	return append([]string{TabOverview}, Tabs()...)
}

func (d Detail) tabHref(tab string) string {
	switch tab {
	case TabOverview:
		return d.Resource.Href
	case TabLogs:
		return LogsPath(d.Resource.Href)
	}
	return d.Resource.Href + "?tab=" + tab
}

// liveHref contains the object's UID: the page must not switch to a later object of its name.
func (d Detail) liveHref() string {
	path := d.Resource.Href + "/live?tab=" + d.Tab + "&uid=" + url.QueryEscape(d.UID)
	if d.Applied > 0 {
		path += "&applied=" + strconv.FormatInt(d.Applied, 10)
	}
	return path
}

// Delete is the confirmation of a deletion.
type Delete struct {
	Frame    Frame
	Resource Resource
	UID      string
	Typed    string
	Error    string // beside the input
	Problem  string // on top: why the deletion failed
	Users    Users
	InUse    bool // it cannot be deleted now
	Effects  []Effect
	Leaves   bool // resources can stay in AWS, and there is a list of them
}

// Effect is one effect of a deletion, or its absence.
type Effect struct {
	Icon, Tone string
	Text       string
}

// allDone reports whether the resource is Ready and every step is done, so that the steps need no attention.
func (d Detail) allDone() bool {
	return d.Resource.Phase == phase.Ready && !slices.ContainsFunc(d.Steps, func(s Step) bool {
		return s.State != StepDone
	})
}

func (d Detail) tone() string {
	if d.Gone {
		return "good"
	}
	return tone(d.Resource.Phase)
}
