package views

import (
	"strings"
	"time"
	"unicode"

	"github.com/a-h/templ"

	"github.com/portico-platform/portico/api/phase"
)

// Frame is the frame of every page of a signed-in user.
type Frame struct {
	Title string // of the page
	User  string // name to show; "" hides the navigation
	Email string // may be empty
	Team  Team   // the current one; zero on pages of no team
	Teams []Team // that the user can choose
	// Resources, Catalog, TeamSection or AdminSection, the part of the navigation that is current; "" for none
	Section string
	Slim    bool      // a narrow column
	Admin   bool      // the user is a platform admin
	Now     time.Time // by the server's clock, to which the page's ages are relative
	Help    string    // documentation of the page; "" for the page about problems
}

// clock returns the server's time for the page's script, or "" if it is not set.
func (f Frame) clock() string {
	if f.Now.IsZero() {
		return ""
	}
	return f.Now.UTC().Format(time.RFC3339)
}

// Team is one choice of the team switcher.
type Team struct {
	ID   string // as in URLs
	Name string // for people
	// About reports that it is a namespace, which has a page about it.
	About bool
	Owner Owner // the Team of the namespace; zero: none that the user can see
}

// Owner is the Team that a namespace belongs to.
type Owner struct {
	Href, Title string
	Contact     string // "" if nobody gave one
	Suspended   bool
}

// Label returns the namespace's name, with the title of its Team.
func (t Team) Label() string {
	if t.Owner.Title == "" || strings.EqualFold(t.Owner.Title, t.Name) {
		return t.Name
	}
	return t.Owner.Title + " (" + t.Name + ")"
}

// Sections of the navigation.
const (
	Resources    = "resources"
	Catalog      = "catalog"
	AdminSection = "admin"
	TeamSection  = "team"
)

// Initials returns the user's initials, for where there is no room for the name.
func (f Frame) Initials() string {
	words := strings.FieldsFunc(f.User, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) > 2 {
		words = []string{words[0], words[len(words)-1]}
	}
	var out strings.Builder
	for _, word := range words {
		out.WriteString(strings.ToUpper(string([]rune(word)[:1])))
	}
	return out.String()
}

// PhaseLook returns a phase as a word, with its icon and colour.
func PhaseLook(p phase.Phase) Look { return Look{Word: string(p), Icon: phaseIcon(p), Tone: tone(p)} }

// tone returns the phase's colour class.
func tone(p phase.Phase) string {
	switch p {
	case phase.NeedsYou:
		return "bad"
	case phase.InProgress:
		return "busy"
	case phase.Ready:
		return "good"
	default:
		return "idle"
	}
}

// toneWords replace a tone's colour and icon for screen readers.
var toneWords = map[string]string{"good": "Good:", "busy": "Under way:", "warn": "Warning:", "bad": "Bad:"}

// phaseIcon returns the name of the phase's icon.
func phaseIcon(p phase.Phase) string {
	switch p {
	case phase.NeedsYou:
		return "alert"
	case phase.InProgress:
		return "spin"
	case phase.Deleting:
		return "bin"
	case phase.Paused:
		return "pause"
	default:
		return "check"
	}
}

// current returns an attribute with a value, nil unless on: a bare aria-current would mean false.
func current(attribute, value string, on bool) templ.Attributes {
	if !on {
		return nil
	}
	return templ.Attributes{attribute: value}
}
