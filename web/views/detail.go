package views

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/portico-platform/portico/api/phase"
)

// Step is one line of how far a resource is.
type Step struct {
	Title string
	Text  string
	Icon  string // check, spin, alert, wait
	Tone  string // good, busy, bad, idle
	State string // the icon in a word, for those who cannot see it
	At    Moment
}

// StepDone is the state of a step that is done, in a word.
const StepDone = "done"

// Fact is one line of a resource's details.
type Fact struct {
	Label string
	Value string
	Code  bool   // shown as code
	Note  string // after the value
	Link  string // address that the value leads to, "" for none
	At    Moment // in place of Value
	Ahead bool   // At is to come
	Due   bool   // it will be known some time
}

// waits reports whether the value is not known yet.
func (f Fact) waits() bool { return f.Due && f.Value == "" && f.At.At.IsZero() }

// Inspection is what the operator tells of its checks of a resource.
type Inspection struct {
	Unknown string // why it tells nothing; all else is empty then
	Facts   []Fact
	Planned Moment // when a check last found something to do
	Plan    []Action
}

// Action is one thing that a check found to do.
type Action struct{ Call, Why string }

// Relation is another object that this one uses, or that uses this one.
type Relation struct {
	Role     string // e.g. Dead letter queue
	Resource Resource
	Missing  bool // there is no such object; only its name is known
	Hidden   bool // the reader may not see it; only its name is known
	// Purpose is what the one that uses the other does with it in AWS, in words that follow "to"; empty: nothing is
	// said of that.
	Purpose string
}

// Users are those that use an object, as far as the reader may see them.
type Users struct {
	First  []Relation // all of them, or the first
	Total  int
	List   Choice   // that has the resources among them, with their number; without an address First are all
	Hidden []string // kinds that the reader may not list, or not everywhere, in words
	Wait   bool     // deleting waits until there are none
}

// Happening is one event about a resource.
type Happening struct {
	Reason  string
	Text    string
	Warning bool
	Done    bool // by somebody, through the portal
	Count   int32
	At      Moment
}

// Times says how often it happened, "" for once.
func (h Happening) Times() string { return times(h.Count) }

// The tabs of a resource.
const (
	TabOverview   = "overview"
	TabLogs       = "logs" // of what runs in Pods; a page of its own
	TabObjects    = "objects"
	TabConditions = "conditions"
	TabEvents     = "events"
	TabActivity   = "activity"
	TabHistory    = "history"
	TabYAML       = "yaml"
)

// Tabs returns all tabs of a resource but the overview, in their order.
func Tabs() []string {
	return []string{TabObjects, TabConditions, TabEvents, TabActivity, TabHistory, TabYAML}
}

// tabTitles are what tabs are called.
var tabTitles = map[string]string{
	TabOverview: "Overview", TabLogs: "Logs", TabObjects: "Parts", TabConditions: "Status details", TabEvents: "Events", TabActivity: "Activity", TabHistory: "History", TabYAML: "YAML",
}

// latest returns the newest events that tell more than the sentence on top of the page, and what to say if there are
// none.
func (d Detail) latest() (events []Happening, none string) {
	for _, e := range d.Events {
		if e.Text != d.Headline && len(events) < 3 {
			events = append(events, e)
		}
	}
	if len(d.Events) > 0 {
		return events, "Nothing but what stands above."
	}
	return nil, d.NoEvents
}

// TabTitle returns what a tab adds to the title of its page, which is nothing for the overview.
func TabTitle(tab string) string {
	if tab == TabOverview {
		return ""
	}
	return tabTitles[tab]
}

// Node is an object with those that were made for it, or that it is bound to.
type Node struct {
	Role  string // what it is to the object above, "" for what was made for that
	Kind  string
	Name  string
	Href  string // "" for what has no page
	Look  Look
	Text  string
	Nodes []Node
}

// Turn is a condition, and when it turned to what it is.
type Turn struct {
	Title, Type, Status, Reason, Text string
	Icon, Tone                        string
	At                                Moment
}

// Deed is one thing that happened to a resource, or was done about it.
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
	Headline  string // the sentence that says how it is, shortest form
	Advice    string // what happens next, or what to do; may be empty
	UID       string
	Applied   int64 // the generation of a change that the cache does not know yet; 0 if it knows all
	Paused    bool
	Gone      bool // it was deleted while the page was open
	Replaced  bool // another one has its name by now
	MayUpdate bool
	MayEdit   bool   // there is a form for it
	Another   string // address of the form that asks for one more like it, "" for those who may not
	MayDelete bool
	Cannot    string // why some of what can be done with others cannot be done with this one; "" if all can
	// Runs says that it runs in Pods, which MayRestart and App are for.
	Runs       bool
	MayRestart bool
	App        *App
	Hostname   *Hostname // nil for what is none
	Connect    *Connect  // nil while there are no connection details
	Steps      []Step
	Progress   string // of observed generations, e.g. "change not applied yet"
	Facts      []Fact
	Related    []Relation
	Users      Users     // they are among Related
	Blocker    *Relation // what it refers to and is not ready; nil: nothing
	Tree       Node      // on its tab
	Turns      []Turn    // on their tab
	Deeds      []Deed    // on their tab
	History    History   // on its tab
	Changes    int64     // of what is asked for, since it was requested
	MayKeep    bool      // its deletion can be called off
	Kept       bool      // and that was asked for
	Recreate   string    // number by which a new, empty one is acknowledged; "" if nothing is to be
	Checks     Inspection
	Events     []Happening
	NoEvents   string // why there are none to see
	YAML       string
	Commands   []Command
}

// Hostname is what the page of a hostname shows besides what it shows of every resource.
type Hostname struct {
	ParentRef   Command // of a route; without text while there is no listener
	Route       Command // a whole one
	Use         string  // the form of a web app that answers there, "" for nobody who may send it
	Certificate []Fact  // none before it was asked for
	Holder      Choice  // the request that has the name in place of this one, if the reader may know
}

// tabs returns the tabs of the resource, in their order.
func (d Detail) tabs() []string {
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

// liveHref names the object by its UID too: it must not turn into a later one of its name.
func (d Detail) liveHref() string {
	path := d.Resource.Href + "/live?tab=" + d.Tab + "&uid=" + url.QueryEscape(d.UID)
	if d.Applied > 0 {
		path += "&applied=" + strconv.FormatInt(d.Applied, 10)
	}
	return path
}

// Delete is the page that asks before deleting.
type Delete struct {
	Frame    Frame
	Resource Resource
	UID      string
	Typed    string
	Error    string // beside the input
	Problem  string // on top: why deleting did not work
	Users    Users
	InUse    bool // it cannot be deleted now
	Effects  []Effect
	Leaves   bool // something may stay in AWS, of which there is a list
}

// Effect is one thing that deleting does, or does not do.
type Effect struct {
	Icon, Tone string
	Text       string
}

// allDone reports whether the resource is Ready and each step done: there is nothing to look at in them.
func (d Detail) allDone() bool {
	return d.Resource.Phase == phase.Ready && !slices.ContainsFunc(d.Steps, func(s Step) bool { return s.State != StepDone })
}

func (d Detail) tone() string {
	if d.Gone {
		return "good"
	}
	return tone(d.Resource.Phase)
}
