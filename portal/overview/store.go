package overview

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/phase"
)

// Store holds a few words about each object. It is safe for concurrent use.
type Store struct {
	mu      sync.RWMutex
	entries map[key]entry
	cells   map[Place]tally // those with objects
	failing map[key]Trouble
	leaving map[key]Trouble
	times   map[string]*durations // by kind
}

type key struct {
	Place
	name string
}

// entry is what is counted of one object.
type entry struct {
	phase phase.Phase
	took  time.Duration // to become ready the first time, negative if it never was
}

// NewStore makes a Store of no objects.
func NewStore() *Store {
	return &Store{
		entries: map[key]entry{}, cells: map[Place]tally{}, failing: map[key]Trouble{}, leaving: map[key]Trouble{},
		times: map[string]*durations{},
	}
}

// Put takes in obj, of the kind with the plural given, in place of what was known of it. It only reads obj.
func (s *Store) Put(kind string, obj *unstructured.Unstructured) {
	f := phase.FactsOf(obj)
	is, why := f.Phase()
	k := key{Place{kind, obj.GetNamespace()}, obj.GetName()}
	e := entry{phase: is, took: took(obj)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(k)
	s.entries[k] = e
	cell := s.cells[k.Place]
	cell.add(is, 1)
	s.cells[k.Place] = cell
	if e.took >= 0 {
		s.timesOf(kind).add(e.took, 1)
	}
	t := Trouble{Place: k.Place, Name: k.name, Phase: is, Why: why}
	if is == phase.NeedsYou {
		t.Since = failingSince(f, obj)
		s.failing[k] = t
	}
	if at := obj.GetDeletionTimestamp(); at != nil {
		t.Since = at.UTC()
		s.leaving[k] = t
	}
}

// Remove forgets the object.
func (s *Store) Remove(kind, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key{Place{kind, namespace}, name})
}

// drop takes back what the object has added.
func (s *Store) drop(k key) {
	e, known := s.entries[k]
	if !known {
		return
	}
	delete(s.entries, k)
	delete(s.failing, k)
	delete(s.leaving, k)
	cell := s.cells[k.Place]
	cell.add(e.phase, -1)
	s.cells[k.Place] = cell
	if cell == (tally{}) {
		delete(s.cells, k.Place)
	}
	if e.took >= 0 {
		s.timesOf(k.Kind).add(e.took, -1)
	}
}

func (s *Store) timesOf(kind string) *durations {
	d := s.times[kind]
	if d == nil {
		d = &durations{}
		s.times[kind] = d
	}
	return d
}

// tally are counts in the order of phase.All.
type tally [5]int

func (t *tally) add(p phase.Phase, n int) { t[p.Urgency()] += n }

func (t *tally) counts() Counts {
	out := Counts{}
	for i, p := range phase.All() {
		if t[i] > 0 {
			out[p] = t[i]
		}
	}
	return out
}

// failingSince is when the condition that says so became what it is, or else when the object was made.
func failingSince(f phase.Facts, obj *unstructured.Unstructured) time.Time {
	c := f.Condition(v1alpha1.ConditionStalled)
	if !c.True() {
		c = f.Condition(v1alpha1.ConditionReady)
	}
	if at, err := time.Parse(time.RFC3339, c.Since); err == nil {
		return at.UTC()
	}
	return obj.GetCreationTimestamp().UTC()
}

// took is the time from the request to the first time ready, negative while there was none. Clocks may differ: it is
// never less than nothing.
func took(obj *unstructured.Unstructured) time.Duration {
	text, _, _ := unstructured.NestedString(obj.Object, "status", "firstReadyTime")
	ready, err := time.Parse(time.RFC3339, text)
	made := obj.GetCreationTimestamp()
	if err != nil || made.IsZero() {
		return -1
	}
	return max(0, ready.Sub(made.Time))
}
