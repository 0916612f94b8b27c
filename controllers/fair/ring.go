package fair

import (
	"container/heap"
	"context"
	"sync"
)

// Ring holds waiting entries in one line for each team, and serves the teams in turn. The zero Ring is empty. Not safe
// for concurrent use.
type Ring[T any] struct {
	lines  map[string]*line[T]
	served map[string]uint64 // the turn in which each team was last served
	turns  uint64            // counts entries added, raised and taken
	size   int
}

// mostServed bounds the teams without waiting entries whose last turn is remembered.
const mostServed = 10_000

// Entry is a waiting entry of a Ring.
type Entry[T any] struct {
	Value    T
	Team     string
	Priority int // within the team; the higher goes first
	order    uint64
	index    int
}

// line holds the waiting entries of one team. Teams are ordered by their last turn, whether or not they have waited
// ever since: a team that adds few entries again and again gets as many turns as one that adds all at once.
type line[T any] struct {
	entries entries[T]
	served  uint64
	since   uint64 // when it began to wait
}

// Add appends e to the entries of its team and priority.
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

// Remove removes e, which must be in the ring, and uses no turn of its team.
func (r *Ring[T]) Remove(e *Entry[T]) {
	l := r.lines[e.Team]
	heap.Remove(&l.entries, e.index)
	r.size--
	if len(l.entries) == 0 {
		delete(r.lines, e.Team)
	}
}

// Raise changes the priority of e, which must be in the ring, and puts it last among the entries of that priority. Its
// team keeps its place.
func (r *Ring[T]) Raise(e *Entry[T], priority int) {
	r.turns++
	e.Priority, e.order = priority, r.turns
	heap.Fix(&r.lines[e.Team].entries, e.index)
}

// Next returns the first entry of the team whose turn it is, nil if the ring is empty: among the teams with the lowest
// busy value, the one served least recently. With a nil busy all teams are equal. It visits every waiting team,
// hundreds at most.
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

// Take removes e and moves its team to the end of the turns.
func (r *Ring[T]) Take(e *Entry[T]) {
	r.turns++
	r.lines[e.Team].served = r.turns
	if r.served == nil || len(r.served) >= mostServed {
		r.served = map[string]uint64{}
	}
	r.served[e.Team] = r.turns
	r.Remove(e)
}

// Len returns how many entries wait.
func (r *Ring[T]) Len() int { return r.size }

// Ahead returns how many waiting entries are certain to be served before one that the team adds now, provided that none
// is removed.
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

// entries implements heap.Interface, ordered by priority, then by time of arrival.
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

// Await waits until the value of e is closed, which means that its turn has come. If ctx ends first, it removes e from
// the ring, which mu guards, and returns the error of ctx.
func Await(ctx context.Context, mu *sync.Mutex, ring *Ring[chan struct{}], e *Entry[chan struct{}]) error {
	select {
	case <-e.Value:
		return nil
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	select {
	case <-e.Value: // closed at the same moment
		return nil
	default:
	}
	ring.Remove(e)
	return ctx.Err()
}
