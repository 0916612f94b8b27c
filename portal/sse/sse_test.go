package sse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// screen is a response that remembers what was sent.
type screen struct {
	mu     sync.Mutex
	body   bytes.Buffer
	status int
	broken bool
}

func (s *screen) Header() http.Header { return http.Header{} }

func (s *screen) WriteHeader(status int) { s.status = status }

func (s *screen) Flush() {}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return 0, errors.New("the client has gone")
	}
	return s.body.Write(b)
}

// take returns what was sent since the last call.
func (s *screen) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.body.Reset()
	return s.body.String()
}

func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = true
}

// page is a source whose parts a test changes.
type page struct {
	mu      sync.Mutex
	parts   []Part
	err     error
	alive   error
	allowed error
	renders int
	changed chan struct{}
}

func (p *page) source() Source {
	read := func(v *error) func(context.Context) error {
		return func(context.Context) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			return *v
		}
	}
	return Source{
		Changed: p.changed, Alive: read(&p.alive), Allowed: read(&p.allowed),
		Render: func(context.Context) ([]Part, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.renders++
			return p.parts, p.err
		},
	}
}

func (p *page) set(change func()) {
	p.mu.Lock()
	change()
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func part(id, html string) Part { return Part{Target: id, HTML: []byte(html)} }

// watch serves p in the background within a bubble of fake time; done is closed when the stream has ended.
func watch(t *testing.T, p *page) (s *screen, done chan struct{}, cancel context.CancelFunc) {
	t.Helper()
	p.changed = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	s, done = &screen{}, make(chan struct{})
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/live", nil)
	go func() {
		defer close(done)
		if err := Serve(s, r, p.source()); err != nil {
			t.Errorf("the stream was refused: %v", err)
		}
	}()
	synctest.Wait()
	return s, done, cancel
}

func TestSnapshotThenOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &page{parts: []Part{part("counts", "<b>1</b>"), part("status", "<i>\n</i>")}}
		s, done, cancel := watch(t, p)
		got := s.take()
		if !strings.HasPrefix(got, "data: <hx-partial hx-target=\"#counts\"") ||
			!strings.Contains(got, "<i>\ndata: </i>") {
			t.Errorf("the snapshot is %q", got)
		}
		for n := range 50 { // a burst is one message
			p.set(func() {
				p.parts = []Part{part("counts", "<b>"+strings.Repeat("x", n)+"</b>"), part("status", "<i>\n</i>")}
			})
			time.Sleep(time.Millisecond)
		}
		time.Sleep(settle)
		synctest.Wait()
		got = s.take()
		if strings.Count(got, "data: ") != 1 || strings.Contains(got, "#status") ||
			!strings.Contains(got, strings.Repeat("x", 49)) {
			t.Errorf("the burst is %q", got)
		}
		if p.renders != 2 {
			t.Errorf("rendered %d times, want the snapshot and once for the burst", p.renders)
		}
		p.set(func() {})
		time.Sleep(2 * settle)
		synctest.Wait()
		if got = s.take(); got != "" {
			t.Errorf("nothing changed, and %q was sent", got)
		}
		cancel()
		<-done
	})
}

func TestRowsAreSentAloneWhileTheirOrderStays(t *testing.T) {
	table := func(shape, b string) []Part {
		return []Part{{
			Target: "list", HTML: []byte("<table>a " + b + "</table>"), Shape: shape,
			Rows: []Part{part("a", "<tr>a</tr>"), part("b", "<tr>"+b+"</tr>")},
		}}
	}
	synctest.Test(t, func(t *testing.T) {
		p := &page{parts: table("a b", "1")}
		s, done, cancel := watch(t, p)
		s.take()
		step := func(parts []Part) string {
			p.set(func() { p.parts = parts })
			time.Sleep(2 * settle)
			synctest.Wait()
			return s.take()
		}
		if got := step(table("a b", "2")); !strings.Contains(got, `#b"`) || strings.Contains(got, "table") ||
			strings.Contains(got, `#a"`) {
			t.Errorf("a changed row gives %q", got)
		}
		if got := step(table("b a", "2")); !strings.Contains(got, "<table>") || strings.Contains(got, "<tr>") {
			t.Errorf("another order gives %q", got)
		}
		if got := step(table("b a", "2")); got != "" {
			t.Errorf("no change gives %q", got)
		}
		cancel()
		<-done
	})
}

func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, done, cancel := watch(t, &page{parts: []Part{part("a", "1")}})
		s.take()
		time.Sleep(heartbeat + time.Second)
		synctest.Wait()
		if got := s.take(); got != ": still here\n\n" {
			t.Errorf("after 15 quiet seconds %q was sent", got)
		}
		cancel()
		<-done
	})
}

func TestStreamEndsWith(t *testing.T) {
	for name, end := range map[string]func(p *page, s *screen){
		"the session":    func(p *page, _ *screen) { p.set(func() { p.alive = errors.New("signed out") }) },
		"access":         func(p *page, _ *screen) { p.mu.Lock(); p.allowed = errors.New("no more"); p.mu.Unlock() },
		"the rendering":  func(p *page, _ *screen) { p.set(func() { p.err = errors.New("cannot") }) },
		"the client":     func(p *page, s *screen) { s.close(); p.set(func() { p.parts = []Part{part("a", "2")} }) },
		"the last words": func(p *page, _ *screen) { p.set(func() { p.err = ErrFinished }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &page{parts: []Part{part("a", "1")}}
				s, done, cancel := watch(t, p)
				defer cancel()
				end(p, s)
				time.Sleep(recheck + time.Second)
				select {
				case <-done:
				default:
					t.Fatal("the stream goes on")
				}
				if finished := strings.Contains(s.take(), "event: finished"); finished != (name == "the last words") {
					t.Errorf("told to stay away: %v", finished)
				}
			})
		})
	}
}

func TestRefusedBeforeTheFirstByte(t *testing.T) {
	w := httptest.NewRecorder()
	p := &page{err: errors.New("no access")}
	if err := Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/live", nil),
		p.source()); err == nil || w.Body.Len() > 0 {
		t.Errorf("the error is %v after %q", err, w.Body)
	}
	p.alive = errors.New("signed out")
	if _ = Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/live", nil),
		p.source()); p.renders != 1 {
		t.Error("something was read for a session that has ended")
	}
}

// slow is a client that takes seconds for each message.
type slow struct{ screen }

func (s *slow) Write(b []byte) (int, error) {
	time.Sleep(3 * time.Second)
	return s.screen.Write(b)
}

// TestWhatIsLargeComesInSeveralMessages without waiting; session and access are still checked in between.
func TestWhatIsLargeComesInSeveralMessages(t *testing.T) {
	for name, c := range map[string]struct {
		allowed error
		want    string
	}{
		"while it may be seen": {nil, "012345678 after"},
		"until it may not":     {errors.New("no more"), "01"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				changed := make(chan struct{}, 1)
				changed <- struct{}{} // a change before the first message
				n := 0
				source := Source{
					Changed: changed,
					Alive:   func(context.Context) error { return nil },
					Allowed: func(context.Context) error { return c.allowed },
					Render: func(context.Context) ([]Part, error) {
						n++
						switch {
						case n < 9:
							return []Part{{Event: "part", Text: fmt.Sprint(n - 1)}}, ErrMore
						case n == 9:
							return []Part{{Event: "part", Text: "8"}}, nil
						}
						return []Part{{Event: "part", Text: " after"}}, ErrFinished
					},
				}
				s := &slow{}
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/live", http.NoBody)
				if err := Serve(s, r, source); err != nil {
					t.Fatal(err)
				}
				var got strings.Builder
				for line := range strings.Lines(s.take()) {
					if text, ok := strings.CutPrefix(line, "data: "); ok {
						got.WriteString(strings.TrimSuffix(text, "\n"))
					}
				}
				if !strings.HasPrefix(got.String(), c.want) || c.allowed != nil && len(got.String()) > 4 {
					t.Errorf("the client reads %q, want %q", got.String(), c.want)
				}
			})
		})
	}
}

func TestAPanicOfARenderingIsTheHandlers(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "no such row, in\n") ||
			!strings.Contains(got, "TestAPanicOfARenderingIsTheHandlers") {
			t.Errorf("%q", got)
		}
	}()
	_ = Serve(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody),
		Source{
			Alive:  func(context.Context) error { return nil },
			Render: func(context.Context) ([]Part, error) { panic("no such row") },
		})
	t.Error("it went on")
}
