package podlogs

import (
	"context"
	"errors"
	"strings"
	"sync"
)

const (
	// MaxWaiting is the size in bytes at which the buffer of a Tail is full.
	MaxWaiting = 64 << 10
	// MaxFollowed is how many bytes of a log are followed: twice what a page shows at first.
	MaxFollowed = 2 * MaxBytes
)

// ErrBound ends a Tail that has read more than MaxLines or MaxFollowed.
var ErrBound = errors.New("the log is longer than is followed")

// NoLogError ends a Tail whose log could not be opened. Cause is the error of open.
type NoLogError struct{ Cause error }

func (e *NoLogError) Error() string { return "opening the log: " + e.Cause.Error() }

func (e *NoLogError) Unwrap() error { return e.Cause }

// Tail follows a log into a buffer of bounded size. While the buffer is full, it reads nothing.
type Tail struct {
	open     func(context.Context) (*Lines, error)
	noLogYet func(error) (note string, wait bool)
	changed  <-chan struct{} // receives when there may be a log
	news     chan struct{}
	taken    chan struct{}

	mu      sync.Mutex
	waiting []string
	size    int
	note    string // why there is no log yet
	end     error
}

// NewTail returns a Tail of the log that open opens. wait reports whether an error of open means that there is no log
// yet, and the reason in words; open is then called again when changed receives.
func NewTail(changed <-chan struct{}, open func(context.Context) (*Lines, error),
	wait func(error) (string, bool),
) *Tail {
	return &Tail{
		open: open, noLogYet: wait, changed: changed, news: make(chan struct{}, 1),
		taken: make(chan struct{}, 1),
	}
}

// News returns a channel that receives when Take has something to return.
func (t *Tail) News() <-chan struct{} { return t.news }

// Start runs Run in the background. Take returns what it has read.
func (t *Tail) Start(ctx context.Context) { go t.Run(ctx) }

// Run reads until the log ends, ctx is cancelled or a limit is reached.
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

// find opens the log once there is one. A kubelet does not respond before the first line, so this can take long.
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
	default: // a signal is pending already
	}
}

// add adds a line to the buffer, or the end, and reports whether the buffer is full.
func (t *Tail) add(line string, end error) (full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end = end; end == nil {
		t.waiting, t.size, t.note = append(t.waiting, line), t.size+len(line)+1, ""
	}
	t.tell()
	return t.size >= MaxWaiting
}

// wait waits until Take has emptied the buffer. It returns false if ctx ends first.
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

// Take empties the buffer and returns its n lines as text, the reason why there is no log yet, and the error that ended
// the Tail, which comes with the last lines.
func (t *Tail) Take() (text string, n int, note string, end error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, n, note, end = strings.Join(t.waiting, "\n"), len(t.waiting), t.note, t.end
	t.waiting, t.size = nil, 0
	select {
	case t.taken <- struct{}{}:
	default: // a signal is pending already
	}
	return text, n, note, end
}
