package pages

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/live"
	"github.com/portico-platform/portico/web/views"
)

// maxWaiting is how much of a log waits for one message; until it is sent, nothing more is read.
const maxWaiting = 64 << 10

var errLogBound = errors.New("the log is longer than a page follows")

// logsLive follows a log: its last lines first, which take the place of those of the page, then what is written. A log
// that is not there yet is looked for when the Pod changes.
func (p *Pages) logsLive(w http.ResponseWriter, r *http.Request) error {
	l, err := p.logLooking(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // ends what reads the log
	r = r.WithContext(ctx)
	l.query.Follow, l.query.Previous = true, false
	f := &following{news: make(chan struct{}, 1), open: func(ctx context.Context) (*cluster.Lines, error) {
		lines, err := p.cluster.Logs(ctx, l.id, l.query)
		return lines, logFault(err)
	}}
	return p.streams.Serve(w, r, l.id.Username, live.Source{
		Changed: either(ctx, f.news, p.followObject(ctx, l.looking)), Alive: p.alive, Render: f.render,
		Allowed: func(ctx context.Context) error { return p.cluster.MayReadLogs(ctx, l.id, l.ref.Namespace) },
	})
}

// following is a log on its way into a stream.
type following struct {
	open    func(context.Context) (*cluster.Lines, error)
	news    chan struct{}
	reader  *logReader // nil while there is no log
	started bool       // lines were sent
}

// render is what came since the last message.
func (f *following) render(ctx context.Context) ([]live.Part, error) {
	if f.reader == nil {
		lines, err := f.open(ctx)
		if none, ok := errors.AsType[*noLogError](err); ok {
			return parts(ctx, part{"log-end", views.LogEndPart(none.words + " It appears here as soon as there is one.")})
		}
		if err != nil {
			return nil, err
		}
		f.reader = &logReader{lines: lines, news: f.news, taken: make(chan struct{}, 1)}
		go f.reader.run(ctx)
	}
	text, n, end := f.reader.take()
	var out []live.Part
	if n > 0 {
		event := "log"
		if !f.started {
			event, f.started = "log-start", true
		}
		out = append(out, live.Part{Event: event, Text: text})
	}
	if !f.started && end == nil {
		return nil, nil // what the page says while there are no lines holds
	}
	words, err := parts(ctx, part{"log-end", views.LogEndPart(endWords(end))})
	if err == nil && end != nil {
		err = live.ErrFinished
	}
	return append(out, words...), err
}

// endWords say why nothing more comes.
func endWords(end error) string {
	switch {
	case end == nil:
		return ""
	case errors.Is(end, io.EOF):
		return "The log ends here: the container has ended. Reload to see what came after it."
	case errors.Is(end, errLogBound):
		return "A page follows 5,000 lines or 1 MiB at most. Reload to go on with the last lines."
	}
	return "The connection to the log is lost. Reload to read on."
}

// logReader reads a log into a buffer of bounded size.
type logReader struct {
	lines *cluster.Lines
	news  chan<- struct{}
	taken chan struct{}

	mu      sync.Mutex
	waiting []string
	size    int
	end     error
}

// run reads until the log, ctx or what a page follows ends.
func (r *logReader) run(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { _ = r.lines.Close() }) // wakes Next
	defer stop()
	defer func() { _ = r.lines.Close() }() // it was read, or failed
	left, room := cluster.MaxLogLines, cluster.MaxLogBytes
	for {
		line, err := r.lines.Next()
		left, room = left-1, room-len(line)
		if err == nil && (left < 0 || room < 0) {
			err = errLogBound
		}
		if full := r.add(line, err); err != nil || full && !r.wait(ctx) {
			return
		}
	}
}

// add reports whether the buffer is full with it.
func (r *logReader) add(line string, end error) (full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end = end; end == nil {
		r.waiting, r.size = append(r.waiting, line), r.size+len(line)+1
	}
	select {
	case r.news <- struct{}{}:
	default: // it is known already
	}
	return r.size >= maxWaiting
}

// wait waits until the buffer was taken; false means that ctx ended first.
func (r *logReader) wait(ctx context.Context) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-r.taken:
		}
		r.mu.Lock()
		empty := r.size == 0
		r.mu.Unlock()
		if empty {
			return true
		}
	}
}

// take empties the buffer. The end is told with the last lines.
func (r *logReader) take() (text string, n int, end error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, n, end = strings.Join(r.waiting, "\n"), len(r.waiting), r.end
	r.waiting, r.size = nil, 0
	select {
	case r.taken <- struct{}{}:
	default: // nobody waits
	}
	return text, n, end
}

// either signals what a or b does. It ends with ctx.
func either(ctx context.Context, a, b <-chan struct{}) <-chan struct{} {
	out := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-a:
			case <-b:
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	return out
}
