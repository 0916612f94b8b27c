// Package operator asks the operator what its checks found: more than Kubernetes knows, for it changes with every check.
// The operator may be away at any time, so nothing here fails: what cannot be asked is unknown.
package operator

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/inspect"
)

const (
	// Patience is the longest that an answer takes: a page waits for it.
	Patience = 2 * time.Second
	// shared is how long an answer holds for everybody who asks about the same object, and kept how many are kept.
	shared = 5 * time.Second
	kept   = 4096
	// openFor is how long nobody is asked after a failure.
	openFor = 5 * time.Second
	// placeFor is how long it holds where the operator is.
	placeFor = 30 * time.Second
)

// State says how much is known.
type State string

const (
	// Checked is an object that the operator has checked since it started.
	Checked State = "checked"
	// Unchecked is one that it has not.
	Unchecked State = "unchecked"
	// Unknown is every object while the operator does not answer.
	Unknown State = "unknown"
)

// Checks is what the operator knows of its checks of one object; all but State is there only if it has checked it.
type Checks struct {
	State State
	inspect.Resource
}

// Object is what is asked about. UID tells it from a namesake of earlier days.
type Object struct{ Kind, Namespace, Name, UID string }

// Kubernetes is what the client needs of it.
type Kubernetes interface {
	// Lease is the operator's.
	Lease(ctx context.Context) (*coordinationv1.Lease, error)
	// Token is of the portal's own ServiceAccount, for the audience inspect.Audience.
	Token(ctx context.Context) (string, error)
	// Drop has the next Token be another one.
	Drop(token string)
}

// Client asks the operator. It is safe for concurrent use.
type Client struct {
	kubernetes Kubernetes
	clock      clock.PassiveClock
	log        *slog.Logger
	flights    singleflight.Group

	mu     sync.Mutex
	recent map[Object]answer
	place  *place
	found  time.Time // the place
	away   bool      // since the last answer
	until  time.Time // nobody is asked, while away
}

type answer struct {
	checks Checks
	until  time.Time
}

// New prepares a client; it sends nothing yet.
func New(k Kubernetes, c clock.PassiveClock, log *slog.Logger) *Client {
	return &Client{kubernetes: k, clock: c, log: cmp.Or(log, slog.New(slog.DiscardHandler)), recent: map[Object]answer{}}
}

// Of tells of the checks of one object. It takes Patience at the most, and no time while the operator is known to be
// away. Whether the caller may see the object was asked before.
func (c *Client) Of(ctx context.Context, of Object) Checks {
	checks, ask := c.before(of)
	if !ask {
		return checks
	}
	flight := c.flights.DoChan(of.Kind+"/"+of.Namespace+"/"+of.Name+"/"+of.UID, func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
		defer cancel()
		checks, err := c.ask(detached, of)
		return c.after(of, checks, err), nil
	})
	patience := time.NewTimer(Patience)
	defer patience.Stop()
	select {
	case done := <-flight:
		return done.Val.(Checks)
	case <-patience.C: // a token is being made, which outlives those who wait for it
	case <-ctx.Done():
	}
	return Checks{State: Unknown}
}

// before is what is known without asking, and whether to ask. When the operator has been away for a while, the first
// caller finds out for all whether it still is.
func (c *Client) before(of Object) (known Checks, ask bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if one, ok := c.recent[of]; ok && now.Before(one.until) {
		return one.checks, false
	}
	if !c.away {
		return Checks{}, true
	}
	if now.Before(c.until) {
		return Checks{State: Unknown}, false
	}
	c.until = now.Add(openFor)
	return Checks{}, true
}

// after notes what came of asking.
func (c *Client) after(of Object, checks Checks, err error) Checks {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if err != nil {
		if !c.away {
			c.log.Warn("the operator does not answer; pages show its checks as unknown", "cause", err)
		}
		c.away, c.until = true, now.Add(openFor)
		c.forget()
		return Checks{State: Unknown}
	}
	if c.away {
		c.log.Info("the operator answers again")
	}
	c.away = false
	c.remember(of, answer{checks, now.Add(shared)})
	return checks
}

// remember keeps the answer, and of the others those that still hold; the lock is held.
func (c *Client) remember(of Object, one answer) {
	if len(c.recent) >= kept {
		now := c.clock.Now()
		for key, old := range c.recent {
			if !now.Before(old.until) {
				delete(c.recent, key)
			}
		}
	}
	if len(c.recent) >= kept {
		clear(c.recent)
	}
	c.recent[of] = one
}

// ask asks where the operator was last, and if that fails, where it is now: another leader, or another certificate.
func (c *Client) ask(ctx context.Context, of Object) (Checks, error) {
	last := c.current()
	if last != nil {
		checks, err := c.get(ctx, last, of)
		if err == nil {
			return checks, nil
		}
		now, lost := c.look(ctx)
		if lost != nil || now == last {
			return Checks{}, errors.Join(err, lost)
		}
		return c.get(ctx, now, of)
	}
	now, err := c.look(ctx)
	if err != nil {
		return Checks{}, err
	}
	return c.get(ctx, now, of)
}

// current is the place as it was found lately; nil if it must be looked for.
func (c *Client) current() *place {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock.Now().Sub(c.found) >= placeFor {
		return nil
	}
	return c.place
}

// look reads the Lease. It returns the place that is known if that is what the Lease says, with its open connections.
func (c *Client) look(ctx context.Context) (*place, error) {
	lease, err := c.kubernetes.Lease(ctx)
	if err != nil {
		return nil, err
	}
	next, err := placeOf(lease)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.place == nil || !c.place.same(next) {
		c.leave()
		c.place = next
	}
	c.found = c.clock.Now()
	return c.place, nil
}

// forget has the next question look for the place anew; the lock is held.
func (c *Client) forget() { c.found = time.Time{} }

// leave closes the connections to the place; the lock is held.
func (c *Client) leave() {
	if c.place != nil {
		c.place.transport.CloseIdleConnections()
	}
}

// Close ends what is open; the client may be used again.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave()
}
