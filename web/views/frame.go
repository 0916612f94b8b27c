package views

import (
	"strings"
	"unicode"

	"github.com/a-h/templ"
)

// Frame is what surrounds every page of a signed-in user.
type Frame struct {
	Title   string // of the page
	User    string // name to show; "" for nobody: no navigation is shown then
	Email   string // may be empty
	Team    Team   // the current one; zero on pages of no team
	Teams   []Team // that the user may choose
	Section string // Resources, Catalog or AdminSection, the part of the navigation that is current; "" for none
	Slim    bool   // a narrow column
	Admin   bool   // the user may look after the platform
}

// Team is one choice of the team switcher.
type Team struct {
	ID   string // as in URLs
	Name string // for people
}

// Sections of the navigation.
const (
	Resources    = "resources"
	Catalog      = "catalog"
	AdminSection = "admin"
)

// Initials stand for the user where there is no room for the name.
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

// Phase is how a resource is doing, in the words of the pages.
type Phase string

// The phases, worst first: the order of the list.
const (
	NeedsYou   Phase = "Needs you"
	InProgress Phase = "In progress"
	Deleting   Phase = "Deleting"
	Paused     Phase = "Paused"
	Ready      Phase = "Ready"
)

// Phases are all phases in their order.
func Phases() []Phase { return []Phase{NeedsYou, InProgress, Deleting, Paused, Ready} }

// Slug is the phase as in URLs.
func (p Phase) Slug() string { return strings.ReplaceAll(strings.ToLower(string(p)), " ", "-") }

// Tone is the colour class that goes with the phase; the word says the same.
func (p Phase) Tone() string {
	switch p {
	case NeedsYou:
		return "bad"
	case InProgress:
		return "busy"
	case Ready:
		return "good"
	default:
		return "idle"
	}
}

// Icon is the name of the phase's icon.
func (p Phase) Icon() string {
	switch p {
	case NeedsYou:
		return "alert"
	case InProgress:
		return "spin"
	case Deleting:
		return "bin"
	case Paused:
		return "pause"
	default:
		return "check"
	}
}

// current is an attribute with a value, present only if on: a bare aria-current would mean false.
func current(attribute, value string, on bool) templ.Attributes {
	if !on {
		return nil
	}
	return templ.Attributes{attribute: value}
}
