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
	// settle is how long changes are collected before one message tells of them all.
	settle = 300 * time.Millisecond
	// heartbeat keeps proxies from closing a quiet connection.
	heartbeat = 15 * time.Second
	// recheck is how often session and access are checked while nothing changes.
	recheck = 5 * time.Second
	// writeTimeout ends a stream whose client has stopped reading.
	writeTimeout = 20 * time.Second
)

// ErrFinished from Render ends the stream for good, after the parts given have been sent: the page has nothing more
// to wait for.
var ErrFinished = errors.New("nothing more will change")

// ErrMore from Render says that there is more than the parts given: they are sent, and then Render is called again,
// without waiting for a change. What is too large for one message comes so in several, each with its own time to be
// read.
var ErrMore = errors.New("there is more")

// Part is one piece of a page, replaced on its own.
type Part struct {
	Target string // id of the element that HTML replaces
	HTML   []byte
	// Shape and Rows, if set, save sending the whole part: as long as the shape is what it was, only the rows that
	// differ are sent, each a part in itself. The shape must tell of all that is not in a row, and of their order.
	Shape string
	Rows  []Part
	// Event, if set, is sent each time, to the page's script: Text as it is, which is no markup. There is no Target
	// then.
	Event string
	Text  string
}

// Source is what one page shows.
type Source struct {
	// Changed receives when the page may be out of date. Spurious signals cost a rendering and send nothing.
	Changed <-chan struct{}
	// Render makes the parts as the caller can see them now. Any error but ErrFinished and ErrMore ends the stream: the
	// browser connects again and is told why by the status.
	Render func(context.Context) ([]Part, error)
	// Alive is nil as long as the caller's session lasts.
	Alive func(context.Context) error
	// Allowed is nil as long as the caller can see the page; it reads nothing.
	Allowed func(context.Context) error
}

// Serve streams the source until the client goes, the session ends or access is lost. Its first rendering decides the
// status: an error before anything was sent is returned, to be answered like that of any page.
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

// render checks the session first: nothing may be read for one that has ended.
func (s Source) render(ctx context.Context) (parts []Part, err error) {
	aside(func() {
		if err = s.Alive(ctx); err == nil {
			parts, err = s.Render(ctx)
		}
	})
	return parts, err
}

// holds reports whether the caller may go on seeing the page.
func (s Source) holds(ctx context.Context) (ok bool) {
	aside(func() { ok = s.Alive(ctx) == nil && s.Allowed(ctx) == nil })
	return ok
}

// aside runs f on a goroutine of its own and waits for it: the stack that f needs goes when it returns. An open stream
// would keep it, 20 kB and more. A panic is the caller's, with the stack that it came from.
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

// digest stands for what was sent: hundreds of streams would hold as many pages.
type digest [sha256.Size]byte

// stream is one open connection.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sent    map[string]digest // of what the client has: HTML or shape, by target
}

// open begins the answer. A connection of HTTP/1.1 ends with its stream: another one may lead to a replica that lasts.
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

// follow sends what changes until something ends the stream. Errors need no words: the browser connects again, and
// the answer to that says why.
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
			case <-check.C: // before more is sent
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

// refresh sends what differs from what the client has, and reports whether there is more to send at once; not open ends
// the stream.
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

// send tells of the parts that the client does not have in this form.
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

// add puts into b what the client lacks of p.
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

// differs notes what the client will have, and reports whether it has something else now.
func (st *stream) differs(target string, content []byte) bool {
	old, ok := st.sent[target]
	now := digest(sha256.Sum256(content))
	st.sent[target] = now
	return !ok || old != now
}

// finish asks the browser not to connect again.
func (st *stream) finish(finished bool) error {
	if !finished {
		return nil
	}
	return st.write(message("finished", ""))
}

// newlines are all that end a line in a stream: a lone carriage return too.
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

// pause waits; false means that ctx ended first.
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
