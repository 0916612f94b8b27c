package page

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/sse"
)

// Pace is the minimum interval between renderings of pages about the whole platform, where something always changes.
const Pace = 2 * time.Second

// Live is the source of an open page's updates; see sse.Source.
type Live struct {
	Changed <-chan struct{}
	Allowed func(context.Context) error
	Render  func(context.Context) ([]sse.Part, error)
}

// Live streams a page to a user while it is open, the user has access to it, and the session is valid.
func (b *Base) Live(w http.ResponseWriter, r *http.Request, id auth.Identity, l Live) error {
	return b.streams.Serve(w, r, id.Username,
		sse.Source{Changed: l.Changed, Alive: b.Alive, Allowed: failure.NotingDenied(l.Allowed), Render: l.Render})
}

// AppliedIn returns the generation of the user's change that led to this page, or 0; see [views.AppliedPath]. The cache
// can lag behind it, and a stream must not replace the page by an older state.
func AppliedIn(r *http.Request) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get("applied"), 10, 32)
	if err != nil {
		return 0
	}
	return n
}

// Part is a component with the ID of the element that it replaces.
type Part struct {
	Target    string
	Component templ.Component
}

// Parts renders components as parts of a stream.
func Parts(ctx context.Context, named ...Part) ([]sse.Part, error) {
	out := make([]sse.Part, 0, len(named))
	for _, n := range named {
		var html bytes.Buffer
		if err := n.Component.Render(ctx, &html); err != nil {
			return nil, err
		}
		out = append(out, sse.Part{Target: n.Target, HTML: html.Bytes()})
	}
	return out, nil
}

// Follow returns a channel that receives after each relevant change, until ctx ends.
func (b *Base) Follow(ctx context.Context, relevant func(feed.Change) bool) <-chan struct{} {
	return b.Cluster.Changes.Subscribe(ctx).Concerning(ctx, relevant)
}

const (
	// afterChange is the delay of the next rendering after a change of the object: the cached result of its checks can
	// be five seconds old, and a check ends after it has changed the object.
	afterChange = 6 * time.Second
	// AtRest is the interval of renderings without a change, for data without change notifications: checks, and events
	// about Pods.
	AtRest = 30 * time.Second
)

// Again returns a channel that receives with each change, afterChange later, and then every AtRest, until ctx ends.
func Again(ctx context.Context, changed <-chan struct{}) <-chan struct{} {
	out := make(chan struct{}, 1)
	go func() {
		timer := time.NewTimer(AtRest)
		defer timer.Stop()
		for {
			next := AtRest
			select {
			case <-ctx.Done():
				return
			case <-changed:
				next = afterChange
			case <-timer.C:
			}
			timer.Reset(next)
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out
}

// Paced returns a channel that receives as that of Again does, but at most once per Pace, until ctx ends.
func Paced(ctx context.Context, changed <-chan struct{}) <-chan struct{} {
	out := make(chan struct{}, 1)
	signals := Again(ctx, changed)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			select {
			case out <- struct{}{}:
			default: // already signalled
			}
			rest := time.NewTimer(Pace)
			select {
			case <-ctx.Done():
				rest.Stop()
				return
			case <-rest.C:
			}
		}
	}()
	return out
}

// Replace returns the part that replaces the element with that ID.
func Replace(target string, c templ.Component) Part { return Part{Target: target, Component: c} }
