package overview

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/status"
)

// Store holds a summary of each object. It is safe for concurrent use.
type Store struct {
	mu      sync.RWMutex
	cells   map[Place]*cell // those with objects
	failing map[key]Trouble
	leaving map[key]Trouble
	times   map[string]*durations // by kind
}

type key struct {
	Place
	name string
}

// cell is the state of a place.
type cell struct {
	rows  []*Row
	at    map[string]int // index of each name in rows
	tally tally
}

func (c *cell) add(name string, row *Row) {
	c.at[name] = len(c.rows)
	c.rows = append(c.rows, row)
}

// remove replaces the named row, which must exist, by the last one.
func (c *cell) remove(name string) *Row {
	i, last := c.at[name], len(c.rows)-1
	row := c.rows[i]
	c.rows[i] = c.rows[last]
	c.at[c.rows[i].Name] = i
	c.rows[last] = nil
	c.rows = c.rows[:last]
	delete(c.at, name)
	return row
}

// NewStore returns an empty Store.
func NewStore() *Store {
	return &Store{
		cells: map[Place]*cell{}, failing: map[key]Trouble{}, leaving: map[key]Trouble{},
		times: map[string]*durations{},
	}
}

// Put adds obj, of kind k, or replaces its earlier version. It keeps obj without changing it.
func (s *Store) Put(k catalog.Kind, obj *unstructured.Unstructured) {
	f := status.FactsIn(k, obj)
	row, why := newRow(k, f, obj)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := key{Place{k.Plural, row.Namespace}, row.Name}
	s.put(at, row)
	if k.KeptBy == "" {
		s.trouble(at, row, f, why)
	}
}

func (s *Store) put(k key, row *Row) {
	s.drop(k)
	c := s.cells[k.Place]
	if c == nil {
		c = &cell{at: map[string]int{}}
		s.cells[k.Place] = c
	}
	c.add(k.name, row)
	c.tally.add(row.Phase, 1)
	if row.Took >= 0 {
		s.timesOf(k.Kind).add(row.Took, 1)
	}
}

// trouble records the object's problem, if there is one.
func (s *Store) trouble(k key, row *Row, f status.Facts, why string) {
	obj := row.Object
	t := Trouble{Place: k.Place, Name: k.name, Phase: row.Phase, Why: why}
	if row.Phase == phase.NeedsYou {
		t.Since = failingSince(f, obj)
		s.failing[k] = t
	}
	if at := obj.GetDeletionTimestamp(); at != nil {
		t.Since = at.UTC()
		s.leaving[k] = t
	}
}

// Remove removes the object.
func (s *Store) Remove(kind, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key{Place{kind, namespace}, name})
}

// Forget removes all objects of a kind.
func (s *Store) Forget(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.cells, func(p Place, _ *cell) bool { return p.Kind == kind })
	for _, troubles := range []map[key]Trouble{s.failing, s.leaving} {
		maps.DeleteFunc(troubles, func(k key, _ Trouble) bool { return k.Kind == kind })
	}
	delete(s.times, kind)
}

// drop subtracts the object's counts.
func (s *Store) drop(k key) {
	c := s.cells[k.Place]
	if c == nil {
		return
	}
	if _, known := c.at[k.name]; !known {
		return
	}
	row := c.remove(k.name)
	delete(s.failing, k)
	delete(s.leaving, k)
	c.tally.add(row.Phase, -1)
	if len(c.rows) == 0 {
		delete(s.cells, k.Place)
	}
	if row.Took >= 0 {
		s.timesOf(k.Kind).add(row.Took, -1)
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

// failingSince returns when the condition that reports the failure last changed, else when the object was created.
func failingSince(f status.Facts, obj *unstructured.Unstructured) time.Time {
	c := f.Condition(v1alpha1.ConditionStalled)
	if !c.True() {
		c = f.Condition(v1alpha1.ConditionReady)
	}
	if at, err := time.Parse(time.RFC3339, c.Since); err == nil {
		return at.UTC()
	}
	return obj.GetCreationTimestamp().UTC()
}
