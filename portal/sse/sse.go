// Package sse keeps open pages up to date by server-sent events: a snapshot first, then what changed.
//
// Each message is HTML that htmx morphs into the page, in parts: <hx-partial hx-target="#id">. Messages are never
// compressed, comments every 15 seconds keep the connection open, and the caller's session and access are checked
// again while the stream runs.
package sse

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

const (
	// settle is how long changes are collected into one message.
	settle = 300 * time.Millisecond
	// heartbeat keeps proxies from closing a quiet connection.
	heartbeat = 15 * time.Second
	// recheck is the interval of checks of session and access while nothing changes.
	recheck = 5 * time.Second
	// writeTimeout ends a stream whose client has stopped reading.
	writeTimeout = 20 * time.Second
)

// ErrFinished from Render ends the stream permanently, after its parts have been sent: there will be no further
// changes.
var ErrFinished = errors.New("nothing more will change")

// ErrMore from Render says that there are more parts: these are sent, and then Render is called again, without waiting
// for a change. Content that is too large for one message is so split into several, each with its own write timeout.
var ErrMore = errors.New("there is more")

// Part is one piece of a page, replaced on its own.
type Part struct {
	Target string // ID of the element that HTML replaces
	HTML   []byte
	// Shape and Rows, if set, avoid sending the whole part: while the shape is unchanged, only changed rows are sent,
	// each as its own part. The shape must contain everything outside the rows, and their order.
	Shape string
	Rows  []Part
	// Event, if set, is an event for the page's script, with Text as its plain data. It is sent each time, and Target
	// is unused.
	Event string
	Text  string
}

// Source is the content of one page.
type Source struct {
	// Changed receives when the page may be outdated. Spurious signals cost a rendering and send nothing.
	Changed <-chan struct{}
	// Render returns the parts that the caller can see now. Any error except ErrFinished and ErrMore ends the stream:
	// the browser reconnects, and the status of that response says why.
	Render func(context.Context) ([]Part, error)
	// Alive returns nil while the caller's session is valid.
	Alive func(context.Context) error
	// Allowed returns nil while the caller can see the page; it reads nothing.
	Allowed func(context.Context) error
}

// Serve streams the source until the client disconnects, the session ends or access is lost. The first rendering
// decides the status: an error before anything was sent is returned, to be handled like that of any page.
func Serve(w http.ResponseWriter, r *http.Request, s Source) error {
	parts, err := s.render(r.Context())
	finished, more := errors.Is(err, ErrFinished), errors.Is(err, ErrMore)
	if err != nil && !finished && !more {
		return err
	}
	st := &stream{w: w, control: http.NewResponseController(w), sent: map[string]digest{}}
	st.open(r.ProtoMajor)
	if err := st.send(parts); err != nil || finished {
		return st.finish(finished)
	}
	ctx, cancel := untilLeft(r.Context())
	defer cancel()
	st.follow(ctx, s, more)
	return nil
}

// render checks the session first: nothing must be read for one that has ended.
func (s Source) render(ctx context.Context) (parts []Part, err error) {
	aside(func() {
		if err = s.Alive(ctx); err == nil {
			parts, err = s.Render(ctx)
		}
	})
	return parts, err
}

// holds reports whether the caller can still see the page.
func (s Source) holds(ctx context.Context) (ok bool) {
	aside(func() { ok = s.Alive(ctx) == nil && s.Allowed(ctx) == nil })
	return ok
}

// aside runs f on its own goroutine and waits for it, so that f's stack, 20 kB and more, is freed when it returns: an
// open stream would keep it. A panic is raised again in the caller, with the original stack.
func aside(f func()) {
	panicked := make(chan any, 1)
	go func() {
		defer func() {
			v := recover()
			if v != nil {
				v = fmt.Sprintf("%v, in\n%s", v, debug.Stack())
			}
			panicked <- v
		}()
		f()
	}()
	if p := <-panicked; p != nil {
		panic(p)
	}
}

// digest is a hash of what was sent: keeping the pages of hundreds of streams would take too much memory.
type digest [sha256.Size]byte

// stream is one open connection.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sent    map[string]digest // by target: the client's HTML or shape
}

// open begins the response. An HTTP/1.1 connection is closed with its stream: a new one may reach another replica.
func (st *stream) open(protocol int) {
	h := st.w.Header()
	if protocol == 1 {
		h.Set("Connection", "close")
	}
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", cmp.Or(h.Get("Cache-Control"), "no-store")+", no-transform")
	h.Set("X-Accel-Buffering", "no")
	st.w.WriteHeader(http.StatusOK)
}

// follow sends changes until the stream ends. Errors are not sent: the browser reconnects, and that response says why.
func (st *stream) follow(ctx context.Context, s Source, more bool) {
	beat := time.NewTicker(heartbeat)
	check := time.NewTicker(recheck)
	defer beat.Stop()
	defer check.Stop()
	atOnce := make(chan struct{})
	close(atOnce)
	for open := true; open; {
		changed, next := s.Changed, (<-chan struct{})(nil)
		if more {
			changed, next = nil, atOnce
			select {
			case <-check.C: // before anything else is sent
				if !s.holds(ctx) {
					return
				}
			default:
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			open = st.write([]byte(": still here\n\n")) == nil
		case <-check.C:
			open = s.holds(ctx)
		case <-next:
			open, more = st.refresh(ctx, s)
		case <-changed:
			if open = pause(ctx, settle); open {
				open, more = st.refresh(ctx, s)
			}
		}
	}
}

// refresh sends the parts that differ from the client's, and reports whether there is more to send at once; open is
// false when the stream must end.
func (st *stream) refresh(ctx context.Context, s Source) (open, more bool) {
	parts, err := s.render(ctx)
	finished, more := errors.Is(err, ErrFinished), errors.Is(err, ErrMore)
	if err != nil && !finished && !more || st.send(parts) != nil {
		return false, false
	}
	if finished {
		_ = st.finish(true) // the stream ends either way
	}
	return !finished, more
}

// send sends the parts that the client does not have.
func (st *stream) send(parts []Part) error {
	var out, b bytes.Buffer
	for _, p := range parts {
		if p.Event != "" {
			out.Write(message(p.Event, p.Text))
			continue
		}
		st.add(&b, p)
	}
	if b.Len() > 0 {
		out.Write(message("", b.String()))
	}
	return st.write(out.Bytes())
}

// add writes to b the changes of p for the client.
func (st *stream) add(b *bytes.Buffer, p Part) {
	if p.Shape == "" {
		if st.differs(p.Target, p.HTML) {
			fmt.Fprintf(b, `<hx-partial hx-target="#%s" hx-swap="outerMorph">%s</hx-partial>`, p.Target, p.HTML)
		}
		return
	}
	whole := st.differs(p.Target, []byte(p.Shape))
	for _, row := range p.Rows {
		if whole {
			st.sent[row.Target] = sha256.Sum256(row.HTML)
		} else {
			st.add(b, row)
		}
	}
	if whole {
		st.add(b, Part{Target: p.Target, HTML: p.HTML})
		st.sent[p.Target] = sha256.Sum256([]byte(p.Shape))
	}
}

// differs records the client's new content, and reports whether it has changed.
func (st *stream) differs(target string, content []byte) bool {
	old, ok := st.sent[target]
	now := digest(sha256.Sum256(content))
	st.sent[target] = now
	return !ok || old != now
}

// finish tells the browser not to reconnect.
func (st *stream) finish(finished bool) error {
	if !finished {
		return nil
	}
	return st.write(message("finished", ""))
}

// newlines are all line ends of a stream: a single carriage return too.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// message returns one server-sent event; every line of data gets its own field.
func message(event, data string) []byte {
	var b bytes.Buffer
	if event != "" {
		fmt.Fprintf(&b, "event: %s\n", event)
	}
	for line := range strings.SplitSeq(newlines.Replace(data), "\n") {
		fmt.Fprintf(&b, "data: %s\n", line)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func (st *stream) write(b []byte) error {
	deadline := time.Now().Add(writeTimeout) //nolint:forbidigo // sockets keep real time
	if err := st.control.SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := st.w.Write(b); err != nil {
		return err
	}
	return st.control.Flush()
}

// pause waits; it returns false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
