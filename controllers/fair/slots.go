package fair

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// active is how long a team shares in the slots after its last request: the writes of one pass are less than this
// apart.
const active = time.Second

// Slots limit how many requests are under way, and teams take turns at them: the next slot goes to the team with the
// fewest under way, and among equals to the one served least recently. A team can use all slots only while no other
// team has requests; otherwise each has an equal share, at least one slot. Half as many extra slots exist for teams
// with no request under way. Safe for concurrent use.
type Slots struct {
	limit int
	now   func() time.Time

	mu      sync.Mutex
	ring    Ring[chan struct{}] // closed when its turn comes
	running int
	busy    map[string]int       // requests under way, by team
	asked   map[string]time.Time // the last request of each team that is active
}

// NewSlots returns Slots for limit requests, at least one. now is the clock that decides which teams are active.
func NewSlots(limit int, now func() time.Time) *Slots {
	return &Slots{limit: max(limit, 1), now: now, busy: map[string]int{}, asked: map[string]time.Time{}}
}

// Take waits for a slot for the team of ctx. The caller must call done exactly once to release it.
func (s *Slots) Take(ctx context.Context) (done func(), err error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	team := TeamOf(ctx)
	done = func() { s.release(team) }
	e := &Entry[chan struct{}]{Value: make(chan struct{}), Team: team}
	s.mu.Lock()
	if team != Platform { // the platform's writes, such as events, serve all teams and take no team's share
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

// serve hands the free slots to the teams whose turn it is.
func (s *Slots) serve() {
	share := s.share()
	for {
		e := s.ring.Next(func(team string) int { return s.busy[team] })
		if e == nil || !s.mayStart(e.Team, share) { // no other team can start: none has fewer under way
			return
		}
		s.ring.Take(e)
		s.running++
		s.busy[e.Team]++
		close(e.Value)
	}
}

// share returns how many slots each team can have.
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

// Transport returns a RoundTripper that makes writes to the API server wait for a slot. Reads, and writes of the leader
// election lease, do not wait.
func (s *Slots) Transport(next http.RoundTripper) http.RoundTripper {
	return slotted{s, next}
}

type slotted struct {
	slots *Slots
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t slotted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead ||
		strings.HasPrefix(r.URL.Path, "/apis/coordination.k8s.io/") {
		return t.next.RoundTrip(r)
	}
	done, err := t.slots.Take(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	return t.next.RoundTrip(r)
}
