// Package operator reads the results of the operator's checks, which are not in Kubernetes because each check changes
// them. The operator may be down at any time, so nothing here fails: without an answer, values are unknown.
package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/expiring"
)

const (
	// Patience bounds the time for an answer, for which a page waits.
	Patience = 2 * time.Second
	// shared is how long an answer is cached for all callers; kept and keptBytes bound the cached answers.
	shared    = 5 * time.Second
	kept      = 4096
	keptBytes = 16 << 20
	// openFor is the pause after a failure.
	openFor = 5 * time.Second
	// placeFor is how long the operator's address is cached.
	placeFor = 30 * time.Second
)

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
	recent     *expiring.Cache[string, answer] // by request.key

	mu    sync.Mutex
	place *place
	found time.Time // the place
	away  bool      // since the last answer
	until time.Time // no requests until then, while away
}

// request is a question without its type.
type request struct {
	path, about string
	shared      time.Duration
	read        func(body []byte) (any, error) // parses a response; body is nil if the operator has no answer
}

func (r request) key() string { return r.path + "#" + r.about }

type answer struct {
	words any  // result of read
	bytes int  // of the response
	busy  bool // the operator is up, and asks to try again later
}

// New returns a Client; it sends no requests.
func New(k Kubernetes, c clock.PassiveClock, log *slog.Logger) *Client {
	return &Client{
		kubernetes: k, clock: c, log: cmp.Or(log, slog.New(slog.DiscardHandler)),
		recent: expiring.New[string, answer](kept, c.Now).Sized(keptBytes, func(a answer) int { return a.bytes }),
	}
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

// ask returns the answer to a question, or false if there is none. Recent answers are reused, and concurrent callers
// with the same question share one request.
func ask[A any](ctx context.Context, c *Client, q question[A]) (answer A, ok bool) {
	words := c.share(ctx, request{q.path, q.about, q.shared, func(body []byte) (any, error) {
		if body == nil {
			return q.none, nil
		}
		var out A
		if err := json.Unmarshal(body, &out); err != nil {
			return nil, fmt.Errorf("read the operator's answer: %w", err)
		}
		q.given(&out)
		return out, nil
	}})
	answer, ok = words.(A)
	return answer, ok
}

// share returns what read made of the response, or nil if there is none.
func (c *Client) share(ctx context.Context, r request) any {
	words, wanted := c.before(r)
	if !wanted {
		return words
	}
	flight := c.flights.DoChan(r.key(), func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
		defer cancel()
		one, err := c.send(detached, r)
		return c.after(r, one, err), nil
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
func (c *Client) before(r request) (known any, wanted bool) {
	if one, ok := c.recent.Get(r.key()); ok {
		return one.words, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.away {
		return nil, true
	}
	now := c.clock.Now()
	if now.Before(c.until) {
		return nil, false
	}
	c.until = now.Add(openFor)
	return nil, true
}

// after records the result of a request. An error is no answer, and is not cached.
func (c *Client) after(r request, one answer, err error) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if !c.away {
			c.log.Warn("the operator does not answer; pages show its checks as unknown", "cause", err)
		}
		c.away, c.until = true, c.clock.Now().Add(openFor)
		c.forget()
		return nil
	}
	if c.away {
		c.log.Info("the operator answers again")
	}
	c.away = false
	if one.busy {
		return nil
	}
	if r.shared > 0 {
		c.recent.Put(r.key(), one, r.shared)
	}
	return one.words
}

// send sends a request to the operator and reads its response.
func (c *Client) send(ctx context.Context, r request) (one answer, err error) {
	err = c.atLeader(ctx, func(at *place) error {
		resp, err := c.roundTrip(ctx, at, Errand{Method: http.MethodGet, Path: r.path}, longest)
		if err != nil {
			return err
		}
		switch resp.status {
		case http.StatusOK:
		case http.StatusNotFound, http.StatusBadRequest, http.StatusTemporaryRedirect: // the operator is up
			resp.body = nil
		case http.StatusServiceUnavailable:
			if one.busy = resp.problem; one.busy {
				return nil
			}
			return errors.New(resp.words)
		default:
			return errors.New(resp.words)
		}
		one.bytes = len(resp.body)
		one.words, err = r.read(resp.body)
		return err
	})
	return one, err
}

// atLeader calls try with the operator's cached place, and if there is no answer, with the current one: there may be a
// new leader, or a new certificate. A refusal is an answer.
func (c *Client) atLeader(ctx context.Context, try func(at *place) error) error {
	last := c.current()
	var failed error
	if last != nil {
		failed = try(last)
		if _, refused := errors.AsType[*RefusedError](failed); failed == nil || refused {
			return failed
		}
	}
	now, err := c.look(ctx)
	if err != nil || now == last {
		return errors.Join(failed, err)
	}
	return try(now)
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
