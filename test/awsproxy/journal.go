package awsproxy

import (
	"sync"
)

// DefaultJournalSize is how many calls the journal holds: about a minute at the simulator's full speed for each ten
// thousand, at 200 bytes each.
const DefaultJournalSize = 100_000

// Mark is a position in the journal.
type Mark uint64

// journal is a ring of the latest calls, in order of arrival.
type journal struct {
	mu   sync.Mutex
	ring []Call
	next uint64 // ID of the next call; IDs start at 1
	size uint64
}

func newJournal(size int) *journal {
	if size <= 0 {
		size = DefaultJournalSize
	}
	return &journal{next: 1, size: uint64(size)}
}

// begin gives the call its ID and records it as in progress.
func (j *journal) begin(c *Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c.ID = j.next
	j.next++
	if uint64(len(j.ring)) < j.size {
		j.ring = append(j.ring, *c)
		return
	}
	j.ring[(c.ID-1)%j.size] = *c
}

// update replaces the record of a call, unless the ring has dropped it.
func (j *journal) update(c Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if at := &j.ring[(c.ID-1)%j.size]; at.ID == c.ID {
		*at = c
	}
}

func (j *journal) mark() Mark {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Mark(j.next - 1)
}

// since returns the calls that arrived after the mark and are still in the ring.
func (j *journal) since(m Mark, filters []Filter) []Call {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := max(uint64(m)+1, 1)
	if j.next > j.size {
		first = max(first, j.next-j.size)
	}
	var out []Call
	for id := first; id < j.next; id++ {
		if c := j.ring[(id-1)%j.size]; passes(c, filters) {
			out = append(out, c)
		}
	}
	return out
}

func passes(c Call, filters []Filter) bool {
	for _, f := range filters {
		if !f(c) {
			return false
		}
	}
	return true
}
