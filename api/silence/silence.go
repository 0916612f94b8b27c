// Package silence records since when the API server has not answered, so that a program that is not ready can say that
// instead of what it lacks because of it.
package silence

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Watch records the answers to all requests that are sent through its Transport. It is safe for concurrent use.
type Watch struct {
	now func() time.Time

	mu    sync.Mutex
	since time.Time // of the first request without an answer after the last one with an answer
}

// New returns a Watch of a server that answers as far as is known.
func New(now func() time.Time) *Watch { return &Watch{now: now} }

// Transport returns a transport that records whether requests through next are answered, with whatever status.
func (w *Watch) Transport(next http.RoundTripper) http.RoundTripper { return transport{next, w} }

type transport struct {
	next  http.RoundTripper
	watch *Watch
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if !errors.Is(err, context.Canceled) { // else the caller did not wait for the answer
		t.watch.record(err == nil)
	}
	return resp, err
}

func (w *Watch) record(answered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case answered:
		w.since = time.Time{}
	case w.since.IsZero():
		w.since = w.now()
	}
}

// Err returns an *Error while the server does not answer, else nil.
func (w *Watch) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		return nil
	}
	return &Error{For: w.now().Sub(w.since)}
}

// Error says that the API server does not answer.
type Error struct {
	For time.Duration // since the first request without an answer
}

func (e *Error) Error() string {
	return fmt.Sprintf("the Kubernetes API server does not answer, for %s now", e.For.Round(time.Second))
}
