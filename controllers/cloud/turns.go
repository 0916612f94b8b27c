package cloud

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/portico-platform/portico/controllers/fair"
)

// turns is a rate whose tokens go to the teams that wait in turn. A team that waits alone gets all of them. One that
// has made few calls of late does not wait: its calls are made at once and the tokens are missing afterwards, to those
// that wait.
type turns struct {
	*rate.Limiter
	ahead int // how many calls may be made before there is a token for them

	mu      sync.Mutex
	ring    fair.Ring[chan struct{}] // closed when it is one's turn
	timer   *time.Timer              // of the next token; set while somebody waits
	credits map[string]*rate.Limiter // of each team that called of late: half of the rate
}

// aheadOfBurst is the part of the burst that teams may be ahead of it.
const aheadOfBurst = 10

// mostCredits is how many teams are remembered; all have full credit after that.
const mostCredits = 10_000

func newTurns(limit rate.Limit, burst int) *turns {
	return &turns{Limiter: rate.NewLimiter(limit, burst), ahead: burst / aheadOfBurst, credits: map[string]*rate.Limiter{}}
}

// errRateLimited says that the pass's time would be over before the call's turn came.
var errRateLimited = errors.New("no turn within the time of this pass")

// wait returns when it is the turn of the call that ctx is for, or at once if that cannot be within ctx's time.
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

// join puts the call into the ring; nil if it may be made at once, or not at all.
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

// spend notes a call of the team, and reports whether it has made few of late.
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
	if left > float64(-t.ahead) { // who calls all the time stays here, and who then pauses has credit again soon
		c.Reserve()
	}
	return left >= 1
}

// untilTokens returns how long it takes at least until there are n tokens.
func (t *turns) untilTokens(n int) time.Duration {
	missing := float64(n) - t.Tokens()
	if missing <= 0 {
		return 0
	}
	seconds := missing / float64(t.Limit())
	if longest := time.Hour.Seconds(); seconds > longest { // of which nobody has as much
		seconds = longest
	}
	return time.Duration(seconds * float64(time.Second))
}

// setTimer wakes at the next token.
func (t *turns) setTimer() {
	if t.timer == nil && t.ring.Len() > 0 {
		t.timer = time.AfterFunc(t.untilTokens(1)+time.Microsecond, t.wake)
	}
}

// wake gives the tokens that there are to those whose turn it is.
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
