package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/tmaxmax/go-sse"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// breathe is the wait before a broken stream is opened again. It doubles each time, up to longestWait.
	breathe = time.Second
	// maxEvent bounds one event: a snapshot has 200 objects.
	maxEvent = 32 << 20
)

// Change is one event of a watch: a snapshot of all objects, an object that is new or changed, or one that left the
// view.
type Change[T any] struct {
	Snapshot []T // all objects; not nil in the first change, and after a reconnect
	// Forbidden are the plurals of the kinds that the Snapshot omits because the caller cannot list them there.
	Forbidden []string
	Object    *T    // new or changed
	Left      *Left // no longer in the view
}

// Left is an object that is no longer in the view.
type Left struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Reason    string `json:"reason"` // gone, unmatched (by the filters) or forbidden
}

// Watch yields the changes of the objects that match until ctx or the loop ends. A broken connection is opened again
// and begins with a new snapshot. An error is the last element: the first connection failed, or the API refused a later
// one.
func (o Objects[T]) Watch(ctx context.Context, opts ListOptions) iter.Seq2[Change[T], error] {
	r := o.client.request(http.MethodGet, o.base)
	opts.fill(r)
	return watch[T](ctx, r)
}

// WatchOne watches one object, as Watch does for all. If it does not exist when a connection begins, the error is an
// *APIError with status 404.
func (o Objects[T]) WatchOne(ctx context.Context, name string) iter.Seq2[Change[T], error] {
	return watch[T](ctx, o.client.request(http.MethodGet, o.base+"/"+url.PathEscape(name)))
}

// WatchResources watches all kinds that teams request, as Watch does for one.
func (c *Client) WatchResources(
	ctx context.Context, opts ListResourcesOptions,
) iter.Seq2[Change[unstructured.Unstructured], error] {
	r := c.request(http.MethodGet, "/resources")
	opts.fill(r)
	return watch[unstructured.Unstructured](ctx, r)
}

func watch[T any](ctx context.Context, r *request) iter.Seq2[Change[T], error] {
	addQuery(r, "watch", true)
	return func(yield func(Change[T], error) bool) {
		r.follow(ctx, func() taker { return (&stream[T]{yield: yield}).take }, func(err error) {
			yield(Change[T]{}, err)
		})
	}
}

// taker handles one event; an error ends the stream.
type taker func(sse.Event) error

// stream is one connection. It assembles snapshots, which arrive in parts.
type stream[T any] struct {
	yield func(Change[T], error) bool
	parts []T
}

// errEnough reports that the caller's loop has ended.
var errEnough = errors.New("enough")

func (s *stream[T]) take(event sse.Event) error {
	var change Change[T]
	var err error
	switch event.Type {
	case "snapshot":
		var part struct {
			Items     []T      `json:"items"`
			Complete  bool     `json:"complete"`
			Forbidden []string `json:"forbidden"`
		}
		err = json.Unmarshal([]byte(event.Data), &part)
		s.parts = append(s.parts, part.Items...)
		if err == nil && !part.Complete {
			return nil
		}
		change.Snapshot, change.Forbidden, s.parts = append([]T{}, s.parts...), part.Forbidden, nil
	case "changed":
		change.Object = new(T)
		err = json.Unmarshal([]byte(event.Data), change.Object)
	case "deleted":
		change.Left = &Left{}
		err = json.Unmarshal([]byte(event.Data), change.Left)
	default: // of a later version
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading a %s event of the portal: %w", event.Type, err)
	}
	if !s.yield(change, nil) {
		return errEnough
	}
	return nil
}

// follow passes the events of a stream to a taker, which connection returns for each connection, and reconnects when
// the stream breaks. It calls fail with the error that ends it, unless ctx or the taker's errEnough does.
func (r *request) follow(ctx context.Context, connection func() taker, fail func(error)) {
	wait := breathe
	for first := true; ; first = false {
		got, err := r.events(ctx, connection())
		if got {
			wait = breathe
		}
		_, away := errors.AsType[*UnreachableError](err)
		switch {
		case errors.Is(err, errEnough), ctx.Err() != nil:
			return
		case err != nil && (first && !got || !away && !passing(err)):
			fail(err)
			return
		}
		timer := r.client.clock.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
		timer.Stop()
		wait = min(2*wait, longestWait)
	}
}

// passing reports whether an error of the API may be temporary.
func passing(err error) bool {
	s := StatusOf(err)
	return s == http.StatusTooManyRequests || s >= http.StatusInternalServerError
}

// events passes the events of one connection to take. got reports whether there was any; the end of the connection is
// no error.
func (r *request) events(ctx context.Context, take taker) (got bool, err error) {
	r.header.Set("Accept", "text/event-stream, application/problem+json")
	resp, err := r.open(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is not wanted
	for event, err := range sse.Read(resp.Body, &sse.ReadConfig{MaxEventSize: maxEvent}) {
		if err != nil {
			return got, r.failed(err)
		}
		got = true
		if err := take(event); err != nil {
			return got, err
		}
	}
	return got, nil
}
