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

const (
	// maxWaiting is how much of a log waits for one message; until it is sent, nothing more is read.
	maxWaiting = 64 << 10
	// maxFollowed is how much of a log a page follows: what it showed at first, and as much again.
	maxFollowed = 2 * cluster.MaxLogBytes
)

var errLogBound = errors.New("the log is longer than a page follows")

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
	f := &following{reader: newLogReader(p.followObject(ctx, l.looking), func(ctx context.Context) (*cluster.Lines, error) {
		lines, err := p.cluster.Logs(ctx, l.id, l.query)
		return lines, logFault(err)
	})}
	return p.streams.Serve(w, r.WithContext(ctx), l.id.Username, live.Source{
		Changed: f.reader.news, Alive: p.alive, Allowed: allowed, Render: f.render,
	})
}

// following is a log on its way into a stream.
type following struct {
	reader  *logReader
	reading bool // it runs
	started bool // lines were sent
}

// render is what came since the last message. It waits for nothing, or nobody would look whether the caller may still see
// the log.
func (f *following) render(ctx context.Context) ([]live.Part, error) {
	if !f.reading {
		f.reading = true
		go f.reader.run(ctx)
	}
	text, n, note, end := f.reader.take()
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
	case errors.Is(end, errLogBound):
		return "A page follows 5,000 lines or 2 MiB at most. Reload to go on with the last lines."
	}
	return "The connection to the log is lost. Reload to read on."
}

// logReader reads a log into a buffer of bounded size.
type logReader struct {
	open    func(context.Context) (*cluster.Lines, error)
	changed <-chan struct{} // there may be a log by now
	news    chan struct{}
	taken   chan struct{}

	mu      sync.Mutex
	waiting []string
	size    int
	note    string // why there is no log yet
	end     error
}

func newLogReader(changed <-chan struct{}, open func(context.Context) (*cluster.Lines, error)) *logReader {
	return &logReader{open: open, changed: changed, news: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
}

// run reads until the log, ctx or what a page follows ends.
func (r *logReader) run(ctx context.Context) {
	lines, err := r.find(ctx)
	if err != nil {
		r.add("", err)
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = lines.Close() }) // wakes Next
	defer stop()
	defer func() { _ = lines.Close() }() // it was read, or failed
	left, room := cluster.MaxLogLines, maxFollowed
	for {
		line, err := lines.Next()
		left, room = left-1, room-len(line)
		if err == nil && (left < 0 || room < 0) {
			err = errLogBound
		}
		if full := r.add(line, err); err != nil || full && !r.wait(ctx) {
			return
		}
	}
}

// find opens the log once there is one. A kubelet answers with the first line only, so that this may take long.
func (r *logReader) find(ctx context.Context) (*cluster.Lines, error) {
	for {
		lines, err := r.open(ctx)
		none, ok := errors.AsType[*noLogError](err)
		if !ok {
			return lines, err
		}
		r.mu.Lock()
		r.note = none.words + " It appears here as soon as there is one."
		r.mu.Unlock()
		r.tell()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-r.changed:
		}
	}
}

// tell signals that there is something to take.
func (r *logReader) tell() {
	select {
	case r.news <- struct{}{}:
	default: // it is known already
	}
}

// add reports whether the buffer is full with it.
func (r *logReader) add(line string, end error) (full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end = end; end == nil {
		r.waiting, r.size, r.note = append(r.waiting, line), r.size+len(line)+1, ""
	}
	r.tell()
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
func (r *logReader) take() (text string, n int, note string, end error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, n, note, end = strings.Join(r.waiting, "\n"), len(r.waiting), r.note, r.end
	r.waiting, r.size = nil, 0
	select {
	case r.taken <- struct{}{}:
	default: // nobody waits
	}
	return text, n, note, end
}
