package pages

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// logsLive follows a log: its last lines first, which take the place of those of the page, then what is written. A log
// that is not there yet is looked for when the Pod changes.
func (p *Pages) logsLive(w http.ResponseWriter, r *http.Request) error {
	l, err := p.logLooking(r)
	if err != nil {
		return err
	}
	allowed := func(ctx context.Context) error { return p.cluster.MayReadLogs(ctx, l.id, l.ref.Namespace) }
	if err := allowed(r.Context()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // ends what reads the log
	l.query.Follow, l.query.Previous = true, false
	f := &following{tail: cluster.NewTail(p.followObject(ctx, l.looking), func(ctx context.Context) (*cluster.Lines, error) {
		lines, err := p.cluster.Logs(ctx, l.id, l.query)
		return lines, logFault(err)
	}, noLogYet)}
	return p.streams.Serve(w, r.WithContext(ctx), l.id.Username, live.Source{
		Changed: f.tail.News(), Alive: p.alive, Allowed: allowed, Render: f.render,
	})
}

// following is a log on its way into a stream.
type following struct {
	tail    *cluster.Tail
	reading bool // it runs
	started bool // lines were sent
}

// render is what came since the last message. It waits for nothing, or nobody would look whether the caller may still see
// the log.
func (f *following) render(ctx context.Context) ([]live.Part, error) {
	if !f.reading {
		f.reading = true
		go f.tail.Run(ctx)
	}
	text, n, note, end := f.tail.Take()
	var out []live.Part
	if n > 0 {
		event := "log"
		if !f.started {
			event, f.started = "log-start", true
		}
		out = append(out, live.Part{Event: event, Text: text})
	}
	if end != nil {
		note = endWords(end)
	}
	if !f.started && note == "" {
		return nil, nil // what the page says while there are no lines holds
	}
	words, err := parts(ctx, part{"log-end", views.LogEndPart(note)})
	if err == nil && end != nil {
		err = live.ErrFinished
	}
	return append(out, words...), err
}

// endWords say why nothing more comes.
func endWords(end error) string {
	switch {
	case errors.Is(end, io.EOF):
		return "The log ends here: the container has ended. Reload to see what came after it."
	case errors.Is(end, cluster.ErrLogBound):
		return "A page follows 5,000 lines or 2 MiB at most. Reload to go on with the last lines."
	case errors.Is(end, errNoPod):
		return "The Pod is no more."
	}
	if refused, ok := errors.AsType[*cluster.ForbiddenError](end); ok {
		return prose.Sentence(refused.Error())
	}
	if _, ok := errors.AsType[*cluster.NoLogError](end); ok {
		return "Kubernetes does not give the log at the moment. Reload to try again."
	}
	return "The connection to the log is lost. Reload to read on."
}

// noLogYet are the words while a log is waited for.
func noLogYet(err error) (note string, wait bool) {
	none, wait := errors.AsType[*noLogError](err)
	if !wait {
		return "", false
	}
	return none.words + " It appears here as soon as there is one.", true
}
