// Package overview counts the platform's objects as they come, change and go, so that no page has to count them: by
// kind, namespace and phase, how long they took to become ready, and which are in trouble the longest.
//
// It knows nothing of callers: who may see which kind and namespace is for those to say who ask.
package overview

import (
	"cmp"
	"slices"
	"time"

	"github.com/portico-platform/portico/api/phase"
)

// Place is a kind in a namespace.
type Place struct {
	Kind      string // plural, e.g. s3buckets
	Namespace string // "" for a kind that belongs to no namespace
}

// Counts are numbers of objects by phase.
type Counts map[phase.Phase]int

// Total returns the number of all objects.
func (c Counts) Total() int {
	n := 0
	for _, of := range c {
		n += of
	}
	return n
}

// Cell are the objects of one place; there is one at least.
type Cell struct {
	Place
	Counts Counts
}

// Trouble is an object that needs somebody, or takes long to go.
type Trouble struct {
	Place
	Name  string
	Phase phase.Phase
	Why   string    // a sentence
	Since time.Time // it has been failing, or was to be deleted
}

// Overview is how the objects of some places are.
type Overview struct {
	Cells []Cell // by kind and namespace
	// Failing are the objects that need somebody, and Leaving those that are being deleted, of whichever phase; the
	// longest first. Objects of kinds that are kept for others are in neither: no list of resources has them.
	Failing, Leaving []Trouble
	// Narrow are the kinds, by their plurals, of which places were left out, whether or not there are objects.
	Narrow []string
}

// Sum adds up the cells that match.
func (o Overview) Sum(matches func(Place) bool) Counts {
	out := Counts{}
	for _, c := range o.Cells {
		if matches(c.Place) {
			for p, n := range c.Counts {
				out[p] += n
			}
		}
	}
	return out
}

// Places returns the places that have objects, in the order of Overview.Cells.
func (s *Store) Places() []Place {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Place, 0, len(s.cells))
	for p := range s.cells {
		out = append(out, p)
	}
	slices.SortFunc(out, byPlace)
	return out
}

// Each calls do for every place, in no order, while nothing changes.
func (s *Store) Each(do func(Place)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for p := range s.cells {
		do(p)
	}
}

// Of returns the overview of the places for which shown returns true. Nothing in it depends on others.
func (s *Store) Of(shown func(Place) bool) Overview {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var o Overview
	for p, c := range s.cells {
		if shown(p) {
			o.Cells = append(o.Cells, Cell{Place: p, Counts: c.tally.counts()})
		}
	}
	slices.SortFunc(o.Cells, func(a, b Cell) int { return byPlace(a.Place, b.Place) })
	o.Failing, o.Leaving = longest(s.failing, shown), longest(s.leaving, shown)
	return o
}

func byPlace(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace))
}

// longest returns the troubles at shown places, the longest first.
func longest(troubles map[key]Trouble, shown func(Place) bool) []Trouble {
	var all []Trouble
	for k, t := range troubles {
		if shown(k.Place) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Trouble) int {
		return cmp.Or(a.Since.Compare(b.Since), byPlace(a.Place, b.Place), cmp.Compare(a.Name, b.Name))
	})
	return all
}
