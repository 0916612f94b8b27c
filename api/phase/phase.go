// Package phase has the words for how an object is doing: the pages, the API and its clients use the same. Which phase
// an object is in, package portal/status reads from its status.
package phase

import "strings"

// Phase is how an object is doing, in a word for people.
type Phase string

// The phases, worst first.
const (
	NeedsYou   Phase = "Needs you"
	InProgress Phase = "In progress"
	Deleting   Phase = "Deleting"
	Paused     Phase = "Paused"
	Ready      Phase = "Ready"
)

// All returns the phases, worst first: the order of lists.
func All() []Phase { return []Phase{NeedsYou, InProgress, Deleting, Paused, Ready} }

// Slug returns the phase as in URLs: needs-you.
func (p Phase) Slug() string { return strings.ReplaceAll(strings.ToLower(string(p)), " ", "-") }

// Urgency returns the place of the phase in All, which orders phases, the worst first; -1 is none. Lists of thousands
// are sorted and counted by it.
func (p Phase) Urgency() int {
	switch p {
	case NeedsYou:
		return 0
	case InProgress:
		return 1
	case Deleting:
		return 2
	case Paused:
		return 3
	case Ready:
		return 4
	}
	return -1
}

// Parse returns the phase with the slug given.
func Parse(slug string) (Phase, bool) {
	for _, p := range All() {
		if p.Slug() == slug {
			return p, true
		}
	}
	return "", false
}
