package pages

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/podlogs"
)

// followed is a followed log within a synctest bubble.
type followed struct {
	f      *fakeCluster
	w      *httptest.ResponseRecorder
	log    *io.PipeWriter
	cancel context.CancelFunc
	done   chan struct{}
	seen   int
}

func follow(t *testing.T, f *fakeCluster) *followed {
	t.Helper()
	return followAt(t, f, atPod+"/logs/live?tail=50")
}

func followAt(t *testing.T, f *fakeCluster, path string) *followed {
	t.Helper()
	r, w := io.Pipe()
	if f.logs == nil {
		f.logs = func(pods.LogQuery) (io.ReadCloser, error) { return r, nil }
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &followed{f: f, w: httptest.NewRecorder(), log: w, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		site(f, developer, noon).ServeHTTP(l.w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	}()
	synctest.Wait()
	return l
}

// next returns what was sent since the last call, after the delay in which changes are collected.
func (l *followed) next() string {
	time.Sleep(2 * time.Second)
	synctest.Wait()
	all := l.w.Body.String()
	defer func() { l.seen = len(all) }()
	return all[l.seen:]
}

// fields returns lines in the format of a stream's message.
func fields(lines ...string) string { return "data: " + strings.Join(lines, "\ndata: ") + "\n\n" }

func (l *followed) end() {
	l.cancel()
	<-l.done
	_ = l.log.Close()
}

func pipedShop(t *testing.T) *fakeCluster {
	t.Helper()
	f := shopSite(t)
	f.logs = nil
	return f
}

func TestALogIsFollowedAsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := follow(t, pipedShop(t))
		if got := l.next(); got != "" {
			t.Errorf("before the first line %q is sent", got)
		}
		_, _ = io.WriteString(l.log, "one\n<script>steal()</script>\r\n\n\x1b[31mevent: finished\n")
		if got, want := l.next(), "event: log-start\n"+
			fields("one", "<script>steal()</script>", "", "event: finished"); !strings.HasPrefix(got, want) {
			t.Errorf("the first lines are %q", got)
		}
		_, _ = io.WriteString(l.log, "two\n")
		if got := l.next(); got != "event: log\ndata: two\n\n" {
			t.Errorf("the next line is %q", got)
		}
		_, _ = io.WriteString(l.log, "last words")
		_ = l.log.Close()
		got := l.next()
		if !strings.Contains(got, "data: last words\n") || !strings.Contains(got, "the container has ended") ||
			!strings.Contains(got, "event: finished") {
			t.Errorf("the end is %q", got)
		}
		<-l.done
		if q := l.f.asked[0]; !q.Follow || q.Previous || q.Tail != 50 {
			t.Errorf("read by %+v", q)
		}
		l.cancel()
	})
}

func TestALogIsFollowedOnceItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := pipedShop(t)
		r, w := io.Pipe()
		var mu sync.Mutex
		started := false
		f.logs = func(pods.LogQuery) (io.ReadCloser, error) {
			mu.Lock()
			defer mu.Unlock()
			if !started {
				return nil, notStarted()
			}
			return r, nil
		}
		l := follow(t, f)
		if got := l.next(); !strings.Contains(got, "It appears here as soon as there is one.") {
			t.Errorf("before there is a log %q is sent", got)
		}
		mu.Lock()
		started = true
		mu.Unlock()
		f.publish(feed.Change{Kind: "webapps", Namespace: "payments", Name: "shop", Pods: true})
		l.next()
		_, _ = io.WriteString(w, "hello\n")
		if got := l.next(); !strings.HasPrefix(got, "event: log-start\ndata: hello\n") {
			t.Errorf("after its start %q is sent", got)
		}
		l.end()
		_ = w.Close()
	})
}

// TestALogThatIsSilentHoldsNothingUp: a kubelet sends its response only with the first line of a followed log, which
// may take an hour.
func TestALogThatIsSilentHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := pipedShop(t)
		said := make(chan struct{})
		f.logs = func(pods.LogQuery) (io.ReadCloser, error) {
			<-said
			return io.NopCloser(strings.NewReader("s3cret")), nil
		}
		l := follow(t, f)
		if !l.w.Flushed || l.w.Code != http.StatusOK {
			t.Error("the stream is not open before the first line")
		}
		f.noLogs.Store(true)
		select {
		case <-l.done:
		case <-time.After(time.Minute):
			t.Error("the stream goes on without the right")
		}
		close(said)
		l.end()
		if strings.Contains(l.w.Body.String(), "s3cret") {
			t.Error("lines are sent without the right")
		}
	})
}

var streamed = regexp.MustCompile(`hx-sse:connect="[^"]*/logs/live\?container=app&amp;tail=([0-9]+)"`)

// TestAStreamBeginsWithTheLinesOfThePage: with long lines a page shows fewer than requested, and the stream must not
// spend its limit on lines that the page left out.
func TestAStreamBeginsWithTheLinesOfThePage(t *testing.T) {
	for name, c := range map[string]struct{ line, tail string }{
		"as many as asked for": {"short", "1000"},
		"as many as fit":       {strings.Repeat("z", 2047), "512"},
	} {
		f := shopSite(t)
		f.logs = func(q pods.LogQuery) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Repeat(c.line+"\n", int(q.Tail)))), nil
		}
		html := visit(t, f, developer, atPod+"/logs?tail=1000").Body.String()
		got := streamed.FindStringSubmatch(html)
		if shown := strconv.Itoa(strings.Count(html, c.line+"\n")); len(got) != 2 || got[1] != c.tail ||
			shown != c.tail {
			t.Errorf("%s: %s lines are shown and followed by %q, want %s", name, shown, got, c.tail)
		}
	}
}

func TestAFollowedLogIsBounded(t *testing.T) {
	for name, line := range map[string]string{
		"in lines": "x\n", "in bytes": strings.Repeat("y", 4000) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := follow(t, pipedShop(t))
				go func() {
					for range podlogs.MaxLines + 1000 {
						if _, err := io.WriteString(l.log, line); err != nil {
							return // the stream has ended, as it must
						}
					}
				}()
				select {
				case <-l.done:
				case <-time.After(time.Hour):
					t.Fatal("the stream goes on")
				}
				body := l.w.Body.String()
				if n := int64(strings.Count(body, "data: "+line[:1])); n > podlogs.MaxLines ||
					len(body) > podlogs.MaxFollowed+1<<16 || n < 100 {
					t.Errorf("%d lines, %d bytes were sent", n, len(body))
				}
				if !strings.Contains(body, "at most. Reload") {
					t.Error("the page does not say why it ends")
				}
				l.cancel()
			})
		})
	}
}

func TestAFollowedLogEndsWith(t *testing.T) {
	for name, end := range map[string]func(l *followed){
		"access":               func(l *followed) { l.f.noLogs.Store(true) },
		"the page":             func(l *followed) { l.cancel() },
		"a broken connection":  func(l *followed) { _ = l.log.CloseWithError(errors.New("reset")) },
		"the log and no words": func(l *followed) { _ = l.log.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := follow(t, pipedShop(t))
				end(l)
				select {
				case <-l.done:
				case <-time.After(time.Minute):
					t.Fatal("the stream goes on")
				}
				l.end()
			})
		})
	}
}
