package podlogs

import (
	"context"
	"errors"
	"strings"
	"sync"
)

const (
	// MaxWaiting is how much of a log waits to be taken.
	MaxWaiting = 64 << 10
	// MaxFollowed is how much of a log is followed: what a page shows at first, and as much again.
	MaxFollowed = 2 * MaxBytes
)

// ErrBound ends a Tail that has read MaxLines or MaxFollowed.
var ErrBound = errors.New("the log is longer than is followed")

// NoLogError ends a Tail that was given no log to read; Cause is what open said.
type NoLogError struct{ Cause error }

func (e *NoLogError) Error() string { return "opening the log: " + e.Cause.Error() }

func (e *NoLogError) Unwrap() error { return e.Cause }

// Tail reads a log that is followed, into a buffer of bounded size: until that is taken, nothing more is read.
type Tail struct {
	open     func(context.Context) (*Lines, error)
	noLogYet func(error) (note string, wait bool)
	changed  <-chan struct{} // there may be a log by now
	news     chan struct{}
	taken    chan struct{}

	mu      sync.Mutex
	waiting []string
	size    int
	note    string // why there is no log yet
	end     error
}

// NewTail prepares a Tail of what open opens. wait says of an error of open that there is no log yet, in words: it is
// tried again when changed receives.
func NewTail(changed <-chan struct{}, open func(context.Context) (*Lines, error), wait func(error) (string, bool)) *Tail {
	return &Tail{open: open, noLogYet: wait, changed: changed, news: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
}

// News receives when there is something to Take.
func (t *Tail) News() <-chan struct{} { return t.news }

// Run reads until the log, ctx or MaxFollowed ends.
func (t *Tail) Run(ctx context.Context) {
	lines, err := t.find(ctx)
	if err != nil {
		t.add("", err)
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = lines.Close() }) // wakes Next
	defer stop()
	defer func() { _ = lines.Close() }() // it was read, or failed
	left, room := MaxLines, MaxFollowed
	for {
		line, err := lines.Next()
		left, room = left-1, room-len(line)
		if err == nil && (left < 0 || room < 0) {
			err = ErrBound
		}
		if full := t.add(line, err); err != nil || full && !t.wait(ctx) {
			return
		}
	}
}

// find opens the log once there is one. A kubelet answers with the first line only, so that this may take long.
func (t *Tail) find(ctx context.Context) (*Lines, error) {
	for {
		lines, err := t.open(ctx)
		if err == nil {
			return lines, nil
		}
		note, wait := t.noLogYet(err)
		if !wait {
			return nil, &NoLogError{Cause: err}
		}
		t.mu.Lock()
		t.note = note
		t.mu.Unlock()
		t.tell()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.changed:
		}
	}
}

// tell signals that Take has something to return.
func (t *Tail) tell() {
	select {
	case t.news <- struct{}{}:
	default: // it is known already
	}
}

// add reports whether the buffer is full with it.
func (t *Tail) add(line string, end error) (full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end = end; end == nil {
		t.waiting, t.size, t.note = append(t.waiting, line), t.size+len(line)+1, ""
	}
	t.tell()
	return t.size >= MaxWaiting
}

// wait waits until the buffer was taken; false means that ctx ended first.
func (t *Tail) wait(ctx context.Context) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-t.taken:
		}
		t.mu.Lock()
		empty := t.size == 0
		t.mu.Unlock()
		if empty {
			return true
		}
	}
}

// Take empties the buffer. It returns the end together with the last lines.
func (t *Tail) Take() (text string, n int, note string, end error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, n, note, end = strings.Join(t.waiting, "\n"), len(t.waiting), t.note, t.end
	t.waiting, t.size = nil, 0
	select {
	case t.taken <- struct{}{}:
	default: // nobody waits
	}
	return text, n, note, end
}
