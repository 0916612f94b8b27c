package cloud

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/portico-platform/portico/controllers/fair"
)

// turns is a rate whose tokens go to waiting teams in turn. A team that waits alone gets all of them. A team that has
// made few calls recently does not wait: its calls are made at once, and the tokens are taken from those that wait.
type turns struct {
	*rate.Limiter
	ahead int // how many calls can be made before their tokens exist

	mu      sync.Mutex
	ring    fair.Ring[chan struct{}] // closed when it is one's turn
	timer   *time.Timer              // for the next token; set while somebody waits
	credits map[string]*rate.Limiter // of each recently active team: half of the rate
}

// aheadOfBurst is the fraction of the burst by which teams can be ahead of it.
const aheadOfBurst = 10

// mostCredits is how many teams are remembered; beyond that all have full credit.
const mostCredits = 10_000

func newTurns(limit rate.Limit, burst int) *turns {
	return &turns{
		Limiter: rate.NewLimiter(limit, burst), ahead: burst / aheadOfBurst,
		credits: map[string]*rate.Limiter{},
	}
}

// errRateLimited means that the pass would time out before the call's turn.
var errRateLimited = errors.New("no turn within the time of this pass")

// wait returns when it is the turn of ctx's call, or at once with an error if that is not possible before ctx's
// deadline.
func (t *turns) wait(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e, err := t.join(ctx)
	if e == nil {
		return err
	}
	if err = fair.Await(ctx, &t.mu, &t.ring, e); errors.Is(err, context.DeadlineExceeded) {
		return errRateLimited
	}
	return err
}

// join adds the call to the ring; nil if the call can be made at once, or not at all.
func (t *turns) join(ctx context.Context) (*fair.Entry[chan struct{}], error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	team := fair.TeamOf(ctx)
	credit := t.spend(team)
	if t.ring.Len() == 0 && t.Allow() {
		return nil, nil
	}
	if credit && t.Tokens() > float64(-t.ahead) && t.Reserve().OK() {
		return nil, nil
	}
	deadline, ends := ctx.Deadline()
	if ends && t.untilTokens(1+t.ring.Ahead(team)) > time.Until(deadline) {
		return nil, errRateLimited
	}
	e := &fair.Entry[chan struct{}]{Value: make(chan struct{}), Team: team}
	t.ring.Add(e)
	t.setTimer()
	return e, nil
}

// spend records a call of the team, and reports whether it has made few recently.
func (t *turns) spend(team string) bool {
	if t.ahead == 0 {
		return false
	}
	c := t.credits[team]
	if c == nil {
		if len(t.credits) >= mostCredits {
			clear(t.credits)
		}
		c = rate.NewLimiter(0, t.ahead)
		t.credits[team] = c
	}
	c.SetLimit(t.Limit() / 2)
	left := c.Tokens()
	if left > float64(-t.ahead) { // a team that calls constantly stays here; after a pause it soon has credit again
		c.Reserve()
	}
	return left >= 1
}

// untilTokens returns the minimum time until there are n tokens.
func (t *turns) untilTokens(n int) time.Duration {
	missing := float64(n) - t.Tokens()
	if missing <= 0 {
		return 0
	}
	seconds := missing / float64(t.Limit())
	if longest := time.Hour.Seconds(); seconds > longest { // longer than any deadline
		seconds = longest
	}
	return time.Duration(seconds * float64(time.Second))
}

// setTimer schedules wake for the next token.
func (t *turns) setTimer() {
	if t.timer == nil && t.ring.Len() > 0 {
		t.timer = time.AfterFunc(t.untilTokens(1)+time.Microsecond, t.wake)
	}
}

// wake gives the available tokens to the next in turn.
func (t *turns) wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = nil
	for t.ring.Len() > 0 && t.Allow() {
		e := t.ring.Next(nil)
		t.ring.Take(e)
		close(e.Value)
	}
	t.setTimer()
}
