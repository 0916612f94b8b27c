// Package overview keeps counts of the platform's objects as they change, so that pages need not count them: by kind,
// namespace and phase, how long they took to become ready, and which have had problems the longest.
//
// It knows nothing about callers: its users must check access to kinds and namespaces.
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
	Namespace string // "" for a cluster-scoped kind
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

// Cell is the counts of one place with objects.
type Cell struct {
	Place
	Counts Counts
}

// Trouble is an object that needs attention, or whose deletion takes long.
type Trouble struct {
	Place
	Name  string
	Phase phase.Phase
	Why   string    // a sentence
	Since time.Time // failing, or being deleted
}

// Overview is the state of the objects of some places.
type Overview struct {
	Cells []Cell // by kind and namespace
	// Failing are the objects that need attention, and Leaving those that are being deleted, in any phase; the longest
	// first. Objects of kinds that teams do not write are in neither, because no list of resources has them.
	Failing, Leaving []Trouble
	// Narrow are the kinds, by plural, for which places were left out, with or without objects.
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

// Each calls do for every place, unsorted, under the lock.
func (s *Store) Each(do func(Place)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for p := range s.cells {
		do(p)
	}
}

// Of returns the overview of the places for which shown returns true. It reveals nothing about other places.
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
