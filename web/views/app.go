package views

import "strconv"

// App is what the page of an application shows besides what it shows of every resource.
type App struct {
	URL           Fact   // where it answers
	Version       Fact   // that is asked for
	Crash         *Crash // the last one; nil for none that is known
	Gauges        []Gauge
	NoUsage       string // why there are no gauges
	Size          Size
	Pods          []Pod
	NoPods        string // why there are none to see
	Hidden        int    // how many more there are than shown
	Versions      []Version
	VersionsError string // why a version was not taken back
	Access        *Access
	Given         []Given
	Secrets       []NamedSecret // besides those of bindings
}

// podColumns returns those of the list of Pods: what they use is among them where it is known.
func (a App) podColumns() []column {
	if len(a.Gauges) == 0 {
		return textColumns("Pod", "State", "Version", "Restarts", "Age")
	}
	return textColumns("Pod", "State", "Version", "Usage", "Restarts", "Age")
}

// podClass returns the class of the list of Pods.
func (a App) podClass() string {
	if len(a.Gauges) == 0 {
		return "grid pods"
	}
	return "grid pods used"
}

// Gauge is how much of CPU or memory is used.
type Gauge struct {
	Label   string
	Used    string
	Of      string // what it is compared with, in words; "" for nothing
	Percent int    // of that, at most 100
	Full    bool   // there is hardly any left
}

// Crash is how a container ended that should not have.
type Crash struct {
	Pod  string
	Log  string // address of what it wrote
	Text string // how it ended
	Said string // the last line that it wrote
	At   Moment
}

// Given is what the Pods have of one binding.
type Given struct {
	Kind, Name string   // of the resource
	Variables  []string // names, not values
	Folder     string   // with files in place of variables
	Secret     string
	User       string // whom it signs in to a database as, and what that user may do
}

// Access are the rights in AWS that an application's bindings speak of; nil, if they speak of none.
type Access struct {
	Look   Look // whether it has them
	Uses   []Relation
	Policy Command
}

// Size is how many Pods there are, and how many there shall be.
type Size struct {
	Wanted, Updated, Available int
	Value                      string // in the input
	Min, Max                   int    // of the input
	Error                      string // beside the input
	Locked                     string // why it cannot be changed here
	Asked                      bool   // the input is shown
}

// share returns n of the Pods wanted, in words.
func (s Size) share(n int) string { return strconv.Itoa(n) + " of " + strconv.Itoa(s.Wanted) }

// full returns the end of the progress bars, which must not be 0.
func (s Size) full() string { return strconv.Itoa(max(s.Wanted, 1)) }

// Look is a state: icon, word and, if there is more to say, a sentence.
type Look struct{ Word, Icon, Tone, Text string }

// Pod is one Pod of an application.
type Pod struct {
	ID        string // of its row
	Name      string
	Href      string
	Look      Look
	LastWords string // the last line that the application wrote when it ended
	Version   string // tag or short digest of its image
	Image     string
	Old       bool // not the version that is asked for
	Restarts  int
	Restarted Moment // the last one
	Created   Moment
	Node      string
	Gauges    []Gauge // none while its usage is not known
}

// Version is a revision of an application.
type Version struct {
	Revision  string
	Tag       string
	Image     string
	Created   Moment
	Available int
	Wanted    bool // the spec asks for it
	Back      bool // it can be taken back by a button
	Never     bool // none of its Pods has served
}

// Container is one container of a Pod.
type Container struct {
	Name      string
	Image     string
	Look      Look
	LastWords string
	Restarts  int
	Restarted Moment
	Logs      string // address of its log
}

// The tabs of a Pod.
const (
	PodOverview = "overview"
	PodLogs     = "logs"
)

// PodDetail is the page of one Pod.
type PodDetail struct {
	Frame      Frame
	App        Resource
	Pod        Pod
	Gone       bool
	Containers []Container
	Conditions []Step
	Facts      []Fact
	Events     []Happening
	NoEvents   string
}

// Logs is the page of a log: of one container of a Pod, or of the copies of an application.
type Logs struct {
	Frame      Frame
	App        Resource
	Pod        Pod    // none on the tab of an application
	Tabs       Detail // of the application, on its tab
	Path       string // of the page
	Copies     []string
	Copy       string // the one that was chosen of them, "" for all
	Note       string // what is not among the lines
	Container  string
	Containers []string
	Lines      []string
	Empty      string // why there is nothing to see, "" if there is
	Tail       int
	Tails      []int
	Cut        bool // older lines were left out for their size
	Previous   bool
	Restarted  bool // there is a run before this one
	Timestamps bool
	Query      string // of this view, for links
	Live       string // address of the stream that follows it, "" for none
}

// Restart is the page that asks before replacing all Pods.
type Restart struct {
	Frame    Frame
	Resource Resource
}
