package fair

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// active is how long a team counts as one that shares the slots after it asked for one: the writes of one pass are not
// farther apart.
const active = time.Second

// Slots bound how many requests are under way at a time, and teams take turns at them: the next is of the team with the
// fewest under way, and of those the one that was served least recently. A team has all slots only while no other asks;
// else each has its share of them, and at least one. Half as many more exist for teams of which none is under way. Safe
// for concurrent use.
type Slots struct {
	limit int
	now   func() time.Time

	mu      sync.Mutex
	ring    Ring[chan struct{}] // closed when it is one's turn
	running int
	busy    map[string]int       // under way by team
	asked   map[string]time.Time // when each team asked last, of those that did lately
}

// NewSlots returns so many, none of them taken. The clock now tells which teams asked lately.
func NewSlots(limit int, now func() time.Time) *Slots {
	return &Slots{limit: max(limit, 1), now: now, busy: map[string]int{}, asked: map[string]time.Time{}}
}

// Take waits for the turn of ctx's team. After it, done must be called once.
func (s *Slots) Take(ctx context.Context) (done func(), err error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	team := TeamOf(ctx)
	done = func() { s.release(team) }
	e := &Entry[chan struct{}]{Value: make(chan struct{}), Team: team}
	s.mu.Lock()
	if team != Platform { // its writes, events among them, are for all teams, and take nobody's share
		s.asked[team] = s.now()
	}
	s.ring.Add(e)
	s.serve()
	s.mu.Unlock()
	if err := Await(ctx, &s.mu, &s.ring, e); err != nil {
		return nil, err
	}
	return done, nil
}

func (s *Slots) release(team string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if s.busy[team]--; s.busy[team] == 0 {
		delete(s.busy, team)
	}
	s.serve()
}

// serve gives the slots that are free to those whose turn it is.
func (s *Slots) serve() {
	share := s.share()
	for {
		e := s.ring.Next(func(team string) int { return s.busy[team] })
		if e == nil || !s.mayStart(e.Team, share) { // then nobody may: others have no fewer under way
			return
		}
		s.ring.Take(e)
		s.running++
		s.busy[e.Team]++
		close(e.Value)
	}
}

// share returns how many slots each team may have.
func (s *Slots) share() int {
	since := s.now().Add(-active)
	maps.DeleteFunc(s.asked, func(team string, last time.Time) bool { return s.busy[team] == 0 && last.Before(since) })
	return max(s.limit/max(len(s.asked), 1), 1)
}

func (s *Slots) mayStart(team string, share int) bool {
	if s.running < s.limit {
		return s.busy[team] < share
	}
	return s.busy[team] == 0 && s.running < s.limit+Extra(s.limit)
}

// Transport has next make the writes to the API server within the slots. Reads, and the lease by which an operator
// leads, wait for nobody.
func (s *Slots) Transport(next http.RoundTripper) http.RoundTripper {
	return slotted{s, next}
}

type slotted struct {
	slots *Slots
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t slotted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || strings.HasPrefix(r.URL.Path, "/apis/coordination.k8s.io/") {
		return t.next.RoundTrip(r)
	}
	done, err := t.slots.Take(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	return t.next.RoundTrip(r)
}
