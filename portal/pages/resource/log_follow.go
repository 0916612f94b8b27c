package resource

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// logsLive follows a log: its last lines first, which take the place of those of the page, then what is written. A log
// that is not there yet is looked for when the Pod changes.
func (p *Pages) logsLive(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readLog(r)
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
	f := &following{tail: podlogs.NewTail(p.followObject(ctx, l.objectRequest), func(ctx context.Context) (*podlogs.Lines, error) {
		lines, err := p.cluster.Logs(ctx, l.id, l.query)
		return lines, logFault(err)
	}, noLogYet)}
	return p.Live(w, r.WithContext(ctx), l.id, page.Live{
		Changed: f.tail.News(), Allowed: allowed, Render: f.render,
	})
}

// following is a log on its way into a stream.
type following struct {
	tail    *podlogs.Tail
	reading bool // it runs
	started bool // lines were sent
}

// render returns what came since the last message. It waits for nothing, or nobody would look whether the caller may still see
// the log.
func (f *following) render(ctx context.Context) ([]sse.Part, error) {
	if !f.reading {
		f.reading = true
		go f.tail.Run(ctx)
	}
	text, n, note, end := f.tail.Take()
	var out []sse.Part
	if n > 0 {
		event := "log"
		if !f.started {
			event, f.started = "log-start", true
		}
		out = append(out, sse.Part{Event: event, Text: text})
	}
	if end != nil {
		note = endWords(end)
	}
	if !f.started && note == "" {
		return nil, nil // what the page says while there are no lines holds
	}
	words, err := page.Parts(ctx, page.Replace("log-end", views.LogEndPart(note)))
	if err == nil && end != nil {
		err = sse.ErrFinished
	}
	return append(out, words...), err
}

// endWords say why nothing more comes.
func endWords(end error) string {
	switch {
	case errors.Is(end, io.EOF):
		return "The log ends here: the container has ended. Reload to see what came after it."
	case errors.Is(end, podlogs.ErrBound):
		return "A page follows 5,000 lines or 2 MiB at most. Reload to go on with the last lines."
	case errors.Is(end, page.ErrNoPod):
		return "The Pod is no more."
	}
	if refused, ok := errors.AsType[*cluster.ForbiddenError](end); ok {
		return humanize.Sentence(refused.Error())
	}
	if _, ok := errors.AsType[*podlogs.NoLogError](end); ok {
		return "Kubernetes does not give the log at the moment. Reload to try again."
	}
	return "The connection to the log is lost. Reload to read on."
}

// noLogYet returns the words while a log is waited for.
func noLogYet(err error) (note string, wait bool) {
	none, wait := errors.AsType[*page.NoLogError](err)
	if !wait {
		return "", false
	}
	return none.Words + " It appears here as soon as there is one.", true
}
