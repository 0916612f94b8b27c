package fair

import (
	"container/heap"
	"context"
	"sync"
)

// Ring holds what waits, in a line for each team, and takes from the lines in turn. The zero Ring is empty. Not safe
// for concurrent use.
type Ring[T any] struct {
	lines  map[string]*line[T]
	served map[string]uint64 // the turn at which each team was served last
	turns  uint64            // that were taken, or joined
	size   int
}

// mostServed is how many teams are remembered that do not wait.
const mostServed = 10_000

// Entry is one that waits in a Ring.
type Entry[T any] struct {
	Value    T
	Team     string
	Priority int // within the team; the higher goes first
	order    uint64
	index    int
}

// line is what waits of one team. It goes by when the team was served last, whether or not it has waited ever since:
// one that has little to ask for, again and again, gets no more turns than one that asks for all at once, and no fewer.
type line[T any] struct {
	entries entries[T]
	served  uint64
	since   uint64 // it waits
}

// Add puts e at the end of those of its team and priority.
func (r *Ring[T]) Add(e *Entry[T]) {
	if r.lines == nil {
		r.lines = map[string]*line[T]{}
	}
	r.turns++
	e.order = r.turns
	l := r.lines[e.Team]
	if l == nil {
		l = &line[T]{served: r.served[e.Team], since: r.turns}
		r.lines[e.Team] = l
	}
	heap.Push(&l.entries, e)
	r.size++
}

// Remove takes e, which must be in the ring, out of it. It is nobody's turn.
func (r *Ring[T]) Remove(e *Entry[T]) {
	l := r.lines[e.Team]
	heap.Remove(&l.entries, e.index)
	r.size--
	if len(l.entries) == 0 {
		delete(r.lines, e.Team)
	}
}

// Raise gives e, which must be in the ring, another priority: it is the last of those. Its team keeps its place.
func (r *Ring[T]) Raise(e *Entry[T], priority int) {
	r.turns++
	e.Priority, e.order = priority, r.turns
	heap.Fix(&r.lines[e.Team].entries, e.index)
}

// Next returns the first entry of the team whose turn it is, nil of an empty ring: of the teams for which busy is least
// the one that was served least recently. Without busy all are the same. It looks at every team that waits, of which
// there are hundreds at most.
func (r *Ring[T]) Next(busy func(team string) int) *Entry[T] {
	var first *line[T]
	least := 0
	for team, l := range r.lines {
		load := 0
		if busy != nil {
			load = busy(team)
		}
		if first == nil || load < least || (load == least && l.before(first)) {
			first, least = l, load
		}
	}
	if first == nil {
		return nil
	}
	return first.entries[0]
}

func (l *line[T]) before(other *line[T]) bool {
	return l.served < other.served || (l.served == other.served && l.since < other.since)
}

// Take removes e, and its team is last in the ring.
func (r *Ring[T]) Take(e *Entry[T]) {
	r.turns++
	r.lines[e.Team].served = r.turns
	if r.served == nil || len(r.served) >= mostServed {
		r.served = map[string]uint64{}
	}
	r.served[e.Team] = r.turns
	r.Remove(e)
}

// Len returns how many wait.
func (r *Ring[T]) Len() int { return r.size }

// Ahead returns how many are served for certain before one that the team adds now, if those that wait do so to the end.
func (r *Ring[T]) Ahead(team string) int {
	own := 0
	if l := r.lines[team]; l != nil {
		own = len(l.entries)
	}
	all := own
	for other, l := range r.lines {
		if other != team {
			all += min(own, len(l.entries))
		}
	}
	return all
}

// entries implements heap.Interface.
type entries[T any] []*Entry[T]

func (e entries[T]) Len() int { return len(e) }

func (e entries[T]) Less(i, j int) bool {
	if e[i].Priority != e[j].Priority {
		return e[i].Priority > e[j].Priority
	}
	return e[i].order < e[j].order
}

func (e entries[T]) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].index, e[j].index = i, j
}

func (e *entries[T]) Push(x any) {
	one := x.(*Entry[T])
	one.index = len(*e)
	*e = append(*e, one)
}

func (e *entries[T]) Pop() any {
	last := len(*e) - 1
	one := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return one
}

// Await returns when the turn of e has come: its value is closed. If ctx ends before that, it takes e out of the ring,
// which mu guards.
func Await(ctx context.Context, mu *sync.Mutex, ring *Ring[chan struct{}], e *Entry[chan struct{}]) error {
	select {
	case <-e.Value:
		return nil
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	select {
	case <-e.Value: // at the same moment
		return nil
	default:
	}
	ring.Remove(e)
	return ctx.Err()
}
