package portal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portico-platform/portico/test/campaign"
)

// watching tracks all open streams and the changes that they have yet to show.
type watching struct {
	mu    sync.Mutex
	sent  map[string]*change // by token
	last  map[string]*change // the last write to each object, by its page
	took  []time.Duration    // time from the write to a browser
	bytes atomic.Int64
	open  atomic.Int64
	ends  atomic.Int64
}

// change is a write that some streams must show.
type change struct {
	at   time.Time
	seen map[int]bool // by stream
	next *change      // the next write to the same object
}

// shown reports whether a stream showed the change or a later one to the same object: changes that follow each other
// quickly are sent to a page as one.
func (c *change) shown() bool {
	return len(c.seen) > 0 || c.next != nil && c.next.shown()
}

func newWatching() *watching {
	return &watching{sent: map[string]*change{}, last: map[string]*change{}}
}

// token returns the token of a write, as it appears on a page.
func token(n int) string { return fmt.Sprintf("w%07d", n) }

var tokens = regexp.MustCompile(`\bw\d{7}\b`)

// wrote records a write that is about to be sent, to the object of that page.
func (w *watching) wrote(token, page string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &change{at: time.Now(), seen: map[int]bool{}}
	if before := w.last[page]; before != nil {
		before.next = c
	}
	w.sent[token], w.last[page] = c, c
}

// saw records that a token arrived in a stream; only its first arrival counts.
func (w *watching) saw(stream int, token string) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.sent[token]; ok && !c.seen[stream] {
		c.seen[stream] = true
		w.took = append(w.took, now.Sub(c.at))
	}
}

// unseen counts the writes that no stream showed: overtaken by a later write to the same object that was shown, or
// lost.
func (w *watching) unseen() (overtaken, lost int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.sent {
		switch {
		case len(c.seen) > 0:
		case c.shown():
			overtaken++
		default:
			lost++
		}
	}
	return overtaken, lost
}

// follow opens one stream and reads it in the background until ctx ends.
func (w *watching) follow(ctx context.Context, of *world, number int, path, cookie string) error {
	stream, err := campaign.Follow(ctx, of.http, of.portal.URL+path, cookie)
	if err != nil {
		return err
	}
	w.open.Add(1)
	go func() {
		defer func() { _ = stream.Close() }()
		w.read(stream, number)
		if ctx.Err() == nil {
			w.ends.Add(1)
		}
	}()
	return nil
}

// read reads a stream to its end.
func (w *watching) read(body io.Reader, number int) {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		w.bytes.Add(int64(len(lines.Bytes()) + 1))
		for _, t := range tokens.FindAll(lines.Bytes(), -1) {
			w.saw(number, string(t))
		}
	}
}
