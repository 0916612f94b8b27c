package views

import "strconv"

// App is the part of an application's page that pages of other resources do not have.
type App struct {
	URL           Fact   // where it answers
	Version       Fact   // of the spec
	Crash         *Crash // the last one; nil if none is known
	Gauges        []Gauge
	NoUsage       string // why there are no gauges
	Size          Size
	Pods          []Pod
	NoPods        string // why no Pods are shown
	Hidden        int    // number of Pods that are not shown
	Versions      []Version
	VersionsError string // why an earlier version was not restored
	Access        *Access
	Given         []Given
	Secrets       []NamedSecret // without those of bindings
}

// podColumns returns the columns of the list of Pods, with their usage if it is known.
func (a App) podColumns() []column {
	if len(a.Gauges) == 0 {
		return textColumns("Pod", "State", "Version", "Restarts", "Age")
	}
	return textColumns("Pod", "State", "Version", "Usage", "Restarts", "Age")
}

// podClass returns the CSS classes of the list of Pods.
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
	Of      string // request or limit that it is compared with, in words; "" for none
	Percent int    // of that, at most 100
	Full    bool   // almost everything is used
}

// Crash describes the unexpected end of a container.
type Crash struct {
	Pod  string
	Log  string // URL of its log
	Text string // how it ended
	Said string // the last line that it wrote
	At   Moment
}

// Given is what the Pods get from one binding.
type Given struct {
	Kind, Name string   // of the resource
	Variables  []string // names, not values
	Folder     string   // of files, if the binding has no variables
	Secret     string
	User       string // database user of the binding, and its rights
}

// Access is the AWS access that an application's bindings request; nil if they request none.
type Access struct {
	Look   Look // whether the application has it
	Uses   []Relation
	Policy Command
}

// Size is the number of Pods, actual and wanted.
type Size struct {
	Wanted, Updated, Available int
	Value                      string // in the input
	Min, Max                   int    // of the input
	Error                      string // beside the input
	Locked                     string // why it cannot be changed here
	Asked                      bool   // the input is shown
}

// share returns n as a share of the wanted Pods, in words.
func (s Size) share(n int) string { return strconv.Itoa(n) + " of " + strconv.Itoa(s.Wanted) }

// full returns the maximum of the progress bars, which must not be 0.
func (s Size) full() string { return strconv.Itoa(max(s.Wanted, 1)) }

// Look is a state as an icon and a word, with an optional sentence.
type Look struct{ Word, Icon, Tone, Text string }

// Pod is one Pod of an application.
type Pod struct {
	ID        string // of its row
	Name      string
	Href      string
	Look      Look
	LastWords string // the last line of the log of a container that ended
	Version   string // tag or short digest of its image
	Image     string
	Old       bool // not the version of the spec
	Restarts  int
	Restarted Moment // the last restart
	Created   Moment
	Node      string
	Gauges    []Gauge // empty while its usage is unknown
}

// Version is a revision of an application.
type Version struct {
	Revision  string
	Tag       string
	Image     string
	Created   Moment
	Available int
	Wanted    bool // the spec asks for it
	Back      bool // there is a button that restores it
	Never     bool // none of its Pods was ever available
}

// Container is one container of a Pod.
type Container struct {
	Name      string
	Image     string
	Look      Look
	LastWords string
	Restarts  int
	Restarted Moment
	Logs      string // URL of its log
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

// Logs is the page of the log of one container of a Pod, or of an application's copies.
type Logs struct {
	Frame      Frame
	App        Resource
	Pod        Pod    // zero on the tab of an application
	Tabs       Detail // zero on the page of a Pod
	Path       string // of the page
	Copies     []string
	Copy       string // the chosen one, "" for all
	Note       string // which lines are missing
	Container  string
	Containers []string
	Lines      []string
	Empty      string // why there are no lines, "" if there are some
	Tail       int
	Tails      []int
	Cut        bool // older lines were dropped because of their size
	Previous   bool
	Restarted  bool // the container has a previous run
	Timestamps bool
	Query      string // of this view, for links
	Live       string // URL of the stream that follows the log, "" for none
}

// Restart is the page that asks for confirmation before all Pods are replaced.
type Restart struct {
	Frame    Frame
	Resource Resource
}
