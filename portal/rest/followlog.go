package rest

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/podlogs"
	"github.com/portico-platform/portico/portal/sse"
)

// followLog responds with the log as a stream. While there is no log yet, the Pod is chosen again whenever a Pod
// changes.
func (a *API) followLog(ctx context.Context, ref catalog.Ref, in *logsInput) (*logsOutput, error) {
	id := caller(ctx)
	allowed := func(ctx context.Context) error { return a.cluster.Pods.MayReadLogs(ctx, id, ref.Namespace) }
	if err := allowed(ctx); err != nil {
		return nil, a.fail(ctx, err)
	}
	return &logsOutput{Body: func(hc huma.Context) { //nolint:contextcheck // huma brings the context of the request
		ctx, cancel := context.WithCancel(hc.Context())
		defer cancel() // ends the reading of the log
		changed := a.cluster.Changes.Subscribe(ctx).Concerning(ctx, func(c feed.Change) bool {
			return c.Kind == ref.Kind.Plural && c.Namespace == ref.Namespace && c.Name == ref.Name
		})
		tail := podlogs.NewTail(changed, func(ctx context.Context) (*podlogs.Lines, error) {
			query, err := a.logQuery(ctx, id, ref, in)
			if err != nil {
				return nil, err
			}
			return a.cluster.Pods.Logs(ctx, id, query)
		}, noLogYet)
		f := &followedLog{api: a, tail: tail}
		a.stream(ctx, hc, sse.Source{Changed: tail.News(), Allowed: allowed, Render: f.render})
	}}, nil
}

// noLogYet reports whether err means that there is no log yet, and the note to show until then.
func noLogYet(err error) (note string, wait bool) {
	none, ok := errors.AsType[*failure.NoLogError](err)
	if !ok || none.Never {
		return "", false
	}
	return "there is no log yet: " + none.Why, true
}

// followedLog is the state of one stream of a log.
type followedLog struct {
	api     *API
	tail    *podlogs.Tail
	reading bool
	waiting string // last note that was sent
}

// render returns the lines since the last message, without waiting for more. ctx is the stream's.
func (f *followedLog) render(ctx context.Context) ([]sse.Part, error) {
	if !f.reading {
		f.reading = true
		f.tail.Start(ctx)
	}
	text, n, note, end := f.tail.Take()
	var out []sse.Part
	if n > 0 {
		out = append(out, told("lines", map[string]any{"lines": strings.Split(text, "\n")}))
	}
	if note != "" && note != f.waiting {
		f.waiting = note
		out = append(out, told("waiting", map[string]any{"message": note}))
	}
	if end == nil {
		return out, nil
	}
	return append(out, told("end", f.api.endOf(ctx, end))), sse.ErrFinished
}

// logEnd is the reason why the log ended.
type logEnd struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Problem is the error that would have been the response if the stream had not begun.
	Problem *huma.ErrorModel `json:"problem,omitempty"`
}

func (a *API) endOf(ctx context.Context, end error) logEnd {
	if refused, ok := errors.AsType[*podlogs.NoLogError](end); ok {
		p := asProblem(ctx, a.fail(ctx, refused.Cause))
		return logEnd{Reason: "refused", Message: p.Detail, Problem: p}
	}
	switch {
	case errors.Is(end, io.EOF):
		return logEnd{Reason: "ended", Message: "the container has ended: ask again for what came after it"}
	case errors.Is(end, podlogs.ErrBound):
		return logEnd{Reason: "bound", Message: "a stream reads 5,000 lines or 2 MiB at most: ask again to go on " +
			"with the last lines"}
	}
	return logEnd{Reason: "lost", Message: "the connection to the log is lost: ask again to read on"}
}
