package page

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/sse"
)

// Pace is how often pages about the whole platform are rendered at the most, where something changes all the time.
const Pace = 2 * time.Second

// Live is what keeps an open page up to date; see sse.Source.
type Live struct {
	Changed <-chan struct{}
	Allowed func(context.Context) error
	Render  func(context.Context) ([]sse.Part, error)
}

// Live streams a page to somebody while it is open, they may see it, and their session lasts.
func (b *Base) Live(w http.ResponseWriter, r *http.Request, id auth.Identity, l Live) error {
	return b.streams.Serve(w, r, id.Username, sse.Source{Changed: l.Changed, Alive: b.Alive, Allowed: cluster.NotingDenied(l.Allowed), Render: l.Render})
}

// AppliedIn returns the generation of the change that leads to this page, 0 without one; see [views.AppliedPath]. The cache
// may not know it yet, and a stream that showed the state before would take back what the page shows.
func AppliedIn(r *http.Request) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get("applied"), 10, 32)
	if err != nil {
		return 0
	}
	return n
}

// Part names a component by the id of its element.
type Part struct {
	Target    string
	Component templ.Component
}

// Parts renders components, each to replace its element.
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

// Follow signals when something changes that the page shows; the signal carries no content. It ends with ctx.
func (b *Base) Follow(ctx context.Context, relevant func(cluster.Change) bool) <-chan struct{} {
	return cluster.Concerning(ctx, b.cluster.Follow(ctx), relevant)
}

const (
	// afterChange is when a page looks again after a change of the object: an answer about its checks may be five
	// seconds old, and a check ends after it has changed the object.
	afterChange = 6 * time.Second
	// AtRest is how often a page looks again that shows what no change tells of: checks, and events about Pods.
	AtRest = 30 * time.Second
)

// Again signals besides each change a while after it, and now and then at rest. It ends with ctx.
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

// Paced passes signals on, and waits for a while after each. Like live pages it looks again now and then, for what no
// change tells of. It ends with ctx.
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
			default: // it is known already
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

// Replace returns the part that takes the place of the element with that id.
func Replace(target string, c templ.Component) Part { return Part{Target: target, Component: c} }
