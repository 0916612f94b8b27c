// Package phase has the words for how an object is doing: the pages, the API and its clients use the same. What an
// object's phase is, package portal/phase says.
package phase

import (
	"slices"
	"strings"
)

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

// All are the phases, worst first: the order of lists.
func All() []Phase { return []Phase{NeedsYou, InProgress, Deleting, Paused, Ready} }

// Slug is the phase as in URLs: needs-you.
func (p Phase) Slug() string { return strings.ReplaceAll(strings.ToLower(string(p)), " ", "-") }

// Urgency orders phases, the worst first.
func (p Phase) Urgency() int { return slices.Index(All(), p) }

// Parse is the phase with the slug given.
func Parse(slug string) (Phase, bool) {
	for _, p := range All() {
		if p.Slug() == slug {
			return p, true
		}
	}
	return "", false
}
