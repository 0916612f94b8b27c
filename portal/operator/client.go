// Package operator reads the results of the operator's checks, which are not in Kubernetes because each check changes
// them. The operator may be down at any time, so nothing here fails: without an answer, values are unknown.
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
	// Patience bounds the time for an answer, for which a page waits.
	Patience = 2 * time.Second
	// shared is how long an answer is cached for all callers, and kept is the maximum number of cached answers.
	shared = 5 * time.Second
	kept   = 4096
	// openFor is the pause after a failure.
	openFor = 5 * time.Second
	// placeFor is how long the operator's address is cached.
	placeFor = 30 * time.Second
)

// State says whether the checks are known.
type State string

const (
	// Checked means that the operator has checked the object since it started.
	Checked State = "checked"
	// Unchecked means that it has not.
	Unchecked State = "unchecked"
	// Unknown means that the operator does not answer.
	Unknown State = "unknown"
)

// Checks are the operator's checks of one object; all fields but State are set only if it has checked it.
type Checks struct {
	State State
	operatorapi.Resource
}

// Object identifies the checked object. UID distinguishes it from earlier objects of the name. Version is the
// resourceVersion that the caller has seen: the operator records a check before it writes the status, so a later answer
// is never older than that status.
type Object struct{ Kind, Namespace, Name, UID, Version string }

// Features are the optional parts of the operator, which depend on the cluster.
type Features struct {
	Known bool // else the operator does not answer
	Items []operatorapi.Feature
}

// Work is the state of the operator's controllers.
type Work struct {
	Known  bool   // else the operator does not answer, or is too old
	Leader string // holder of the Lease, when it was last read
	operatorapi.Activity
}

// Kubernetes is the part of a Kubernetes client that Client needs.
type Kubernetes interface {
	// Lease returns the operator's Lease.
	Lease(ctx context.Context) (*coordinationv1.Lease, error)
	// Token returns a token of the portal's own ServiceAccount, for the audience operatorapi.Audience.
	Token(ctx context.Context) (string, error)
	// Drop makes the next call of Token return a new one.
	Drop(token string)
}

// Client sends requests to the operator. It is safe for concurrent use.
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
	until  time.Time // no requests until then, while away
}

type answer struct {
	words any // result of read
	until time.Time
}

// question is the cache key of a request: its path, the object's UID, and the version of its status.
type question struct{ path, uid, version string }

// reader parses a response; body is nil if the operator has no data.
type reader func(body []byte) (any, error)

// New returns a Client; it sends no requests.
func New(k Kubernetes, c clock.PassiveClock, log *slog.Logger) *Client {
	return &Client{
		kubernetes: k, clock: c, log: cmp.Or(log, slog.New(slog.DiscardHandler)),
		recent: map[question]answer{},
	}
}

// Of returns the checks of one object. It takes Patience at most, and no time while the operator is known to be down.
// The caller must have checked access to the object.
func (c *Client) Of(ctx context.Context, of Object) Checks {
	q := question{operatorapi.ResourcePath(of.Kind, of.Namespace, of.Name), of.UID, of.Version}
	if checks, ok := c.tell(ctx, q, func(body []byte) (any, error) { return readChecks(body, of) }).(Checks); ok {
		return checks
	}
	return Checks{State: Unknown}
}

// Features returns which parts of the operator are on, with the same time limit as Of.
func (c *Client) Features(ctx context.Context) Features {
	features, _ := c.tell(ctx, question{path: operatorapi.FeaturesPath}, readFeatures).(Features)
	return features
}

// Work returns the state of the controllers, with the same time limit as Of.
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

// tell requests an answer from the operator and returns read's result, or nil if there is none. Recent answers are
// reused, and concurrent callers with the same question share one request.
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
	case <-patience.C: // a token request outlives its waiters
	case <-ctx.Done():
	}
	return nil
}

// before returns the cached answer, and whether to send a request. When the operator has been down for a while, only
// the first caller tries again.
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

// after records the result of a request.
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
		return words // AWS may have answered by the next request
	}
	c.remember(q, answer{words, now.Add(shared)})
	return words
}

// remember caches the answer and drops expired ones. The caller must hold the lock.
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

// ask sends the request to the operator's cached address, and if that fails, to the current one: there may be a new
// leader, or a new certificate.
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

// current returns the cached place, or nil if it must be looked up.
func (c *Client) current() *place {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock.Now().Sub(c.found) >= placeFor {
		return nil
	}
	return c.place
}

// look reads the Lease. If the place is unchanged, it returns the known one with its open connections.
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

// forget makes the next request look up the place again. The caller must hold the lock.
func (c *Client) forget() { c.found = time.Time{} }

// leave closes the connections to the place. The caller must hold the lock.
func (c *Client) leave() {
	if c.place != nil {
		c.place.transport.CloseIdleConnections()
	}
}

// Close closes all connections; the client can still be used.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave()
}
