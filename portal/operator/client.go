// Package operator asks the operator what its checks found: more than Kubernetes knows, for it changes with every
// check. The operator may be away at any time, so nothing here fails: what cannot be asked is unknown.
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

	"github.com/portico-platform/portico/api/operatorapi"
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
	operatorapi.Resource
}

// Object is what is asked about. UID tells it from a namesake of earlier days. Version is the resourceVersion that the
// caller has seen: the operator notes a check before it writes the status, so an answer that was asked for afterwards
// is never older than that status.
type Object struct{ Kind, Namespace, Name, UID, Version string }

// Features are the parts of the operator that depend on what the cluster has.
type Features struct {
	Known bool // else the operator does not answer
	Items []operatorapi.Feature
}

// Work is what the operator's controllers do.
type Work struct {
	Known  bool   // else the operator does not answer, or is too old to tell
	Leader string // holder of the Lease, as it was found lately
	operatorapi.Activity
}

// Kubernetes is what the client needs of it.
type Kubernetes interface {
	// Lease is the operator's.
	Lease(ctx context.Context) (*coordinationv1.Lease, error)
	// Token is of the portal's own ServiceAccount, for the audience operatorapi.Audience.
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
	history    history

	mu     sync.Mutex
	recent map[question]answer
	place  *place
	found  time.Time // the place
	away   bool      // since the last answer
	until  time.Time // nobody is asked, while away
}

type answer struct {
	words any // what read made of them
	until time.Time
}

// question is what is asked at a path; UID tells one life of an object from another, version one status from the next.
type question struct{ path, uid, version string }

// reader makes sense of an answer; body is nil if the operator knows nothing of what was asked.
type reader func(body []byte) (any, error)

// New prepares a client; it sends nothing yet.
func New(k Kubernetes, c clock.PassiveClock, log *slog.Logger) *Client {
	return &Client{kubernetes: k, clock: c, log: cmp.Or(log, slog.New(slog.DiscardHandler)), recent: map[question]answer{}}
}

// Of tells of the checks of one object. It takes Patience at the most, and no time while the operator is known to be
// away. Whether the caller can see the object was asked before.
func (c *Client) Of(ctx context.Context, of Object) Checks {
	q := question{operatorapi.ResourcePath(of.Kind, of.Namespace, of.Name), of.UID, of.Version}
	if checks, ok := c.tell(ctx, q, func(body []byte) (any, error) { return readChecks(body, of) }).(Checks); ok {
		return checks
	}
	return Checks{State: Unknown}
}

// Features tells which parts of the operator are on, as patiently as Of.
func (c *Client) Features(ctx context.Context) Features {
	features, _ := c.tell(ctx, question{path: operatorapi.FeaturesPath}, readFeatures).(Features)
	return features
}

// Work tells what the controllers do, as patiently as Of.
func (c *Client) Work(ctx context.Context) Work {
	work, _ := c.tell(ctx, question{path: operatorapi.ActivityPath}, readWork).(Work)
	if work.Known {
		work.Leader = c.leader()
	}
	return work
}

// leader returns who held the Lease when it was last read, or "" if it was not.
func (c *Client) leader() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.place == nil {
		return ""
	}
	return c.place.holder
}

// tell asks the operator and returns what read makes of the answer, or nil while there is none. Recent answers are
// reused, and callers with the same question share one request.
func (c *Client) tell(ctx context.Context, q question, read reader) any {
	words, ask := c.before(q)
	if !ask {
		return words
	}
	flight := c.flights.DoChan(q.path+"#"+q.uid+"#"+q.version, func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
		defer cancel()
		words, err := c.ask(detached, q, read)
		return c.after(q, words, err), nil
	})
	patience := time.NewTimer(Patience)
	defer patience.Stop()
	select {
	case done := <-flight:
		return done.Val
	case <-patience.C: // a token is being made, which outlives those who wait for it
	case <-ctx.Done():
	}
	return nil
}

// before returns what is known without asking, and whether to ask. When the operator has been away for a while, only
// the first caller asks, for all, whether it is back.
func (c *Client) before(q question) (known any, ask bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if one, ok := c.recent[q]; ok && now.Before(one.until) {
		return one.words, false
	}
	if !c.away {
		return nil, true
	}
	if now.Before(c.until) {
		return nil, false
	}
	c.until = now.Add(openFor)
	return nil, true
}

// after notes what came of asking.
func (c *Client) after(q question, words any, err error) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	if err != nil {
		if !c.away {
			c.log.Warn("the operator does not answer; pages show its checks as unknown", "cause", err)
		}
		c.away, c.until = true, now.Add(openFor)
		c.forget()
		return nil
	}
	if c.away {
		c.log.Info("the operator answers again")
	}
	c.away = false
	if offers, ok := words.(Offers); ok && offers.Pending {
		return words // AWS may have answered by the next time
	}
	c.remember(q, answer{words, now.Add(shared)})
	return words
}

// remember keeps the answer, and of the others those that still hold; the lock is held.
func (c *Client) remember(q question, one answer) {
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
	c.recent[q] = one
}

// ask asks where the operator was last, and if that fails, where it is now: another leader, or another certificate.
func (c *Client) ask(ctx context.Context, q question, read reader) (any, error) {
	last := c.current()
	if last != nil {
		words, err := c.get(ctx, last, q, read)
		if err == nil {
			return words, nil
		}
		now, lost := c.look(ctx)
		if lost != nil || now == last {
			return nil, errors.Join(err, lost)
		}
		return c.get(ctx, now, q, read)
	}
	now, err := c.look(ctx)
	if err != nil {
		return nil, err
	}
	return c.get(ctx, now, q, read)
}

// current returns the place that was found lately, or nil if it must be looked up.
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

// forget makes the next question look up the place again. The caller holds the lock.
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
