package resource

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
	"github.com/portico-platform/portico/portal/sse"
)

// rollout is an application with followed logs: the logs of its Pods, and which Pods are the newest.
type rollout struct {
	*following
	newest []string
	out    map[string]*io.PipeWriter
	ctxs   map[string]context.Context
}

func followRollout() *rollout {
	r := &rollout{out: map[string]*io.PipeWriter{}, ctxs: map[string]context.Context{}}
	r.following = &following{
		all: true, changed: make(chan struct{}, 1), tails: map[string]followed{}, ended: map[string]string{},
		unbegun: map[string]string{},
		names:   func(context.Context) ([]string, error) { return r.newest, nil },
		tail: func(ctx context.Context, pod string) *podlogs.Tail {
			in, out := io.Pipe()
			r.out[pod], r.ctxs[pod] = out, ctx
			return podlogs.NewTail(nil, func(context.Context) (*podlogs.Lines, error) {
				return podlogs.NewLines(in, nil), nil
			}, noLogYet)
		},
	}
	return r
}

// text renders once and returns the lines that were sent.
func (r *rollout) text(t *testing.T) string {
	t.Helper()
	synctest.Wait()
	parts, err := r.render(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	if i := slices.IndexFunc(parts, func(p sse.Part) bool { return p.Event != "" }); i >= 0 {
		return parts[i].Text
	}
	return ""
}

// streams returns the Pods whose logs are read.
func (r *rollout) streams() []string {
	var open []string
	for pod, ctx := range r.ctxs {
		if ctx.Err() == nil {
			open = append(open, pod)
		}
	}
	slices.Sort(open)
	return open
}

func podNames(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("shop-%02d", i)
	}
	return all
}

func TestAPodThatLeavesTheNewestIsNoLongerFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := podNames(maxCopies + 2)
		r := followRollout()
		r.newest = all[:maxCopies]
		r.text(t)
		if got := r.streams(); !slices.Equal(got, r.newest) {
			t.Fatalf("at first the logs of %v are read", got)
		}
		_, _ = io.WriteString(r.out[all[0]], "my last words\n")
		r.newest = all[2:]
		if got := r.text(t); got != "[00] my last words" {
			t.Errorf("of the Pod that leaves came %q", got)
		}
		if got := r.streams(); !slices.Equal(got, r.newest) || len(r.tails) != maxCopies {
			t.Errorf("after the rollout the logs of %v are read, %d are kept", got, len(r.tails))
		}
		if _, err := io.WriteString(r.out[all[0]], "more\n"); err == nil {
			t.Error("the stream of the Pod that left is open")
		}
		_, _ = io.WriteString(r.out[all[11]], "hello\n")
		if got := r.text(t); got != "[11] hello" {
			t.Errorf("of the newest came %q", got)
		}
	})
}

func TestALogThatEndedHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := followRollout()
		r.newest = podNames(2)
		r.text(t)
		select {
		case <-r.changed:
		default:
		}
		_, _ = io.WriteString(r.out["shop-00"], "bye\n")
		_ = r.out["shop-00"].Close()
		synctest.Wait()
		if got := r.streams(); !slices.Equal(got, []string{"shop-01"}) {
			t.Errorf("after one ended, %v are held", got)
		}
		select {
		case <-r.changed:
		default:
			t.Error("nobody hears of the last lines")
		}
		if got := r.text(t); got != "[00] bye" ||
			!strings.Contains(r.noteOn(r.newest), "Replica 00: The log ends here") {
			t.Errorf("its end is %q, %q", got, r.noteOn(r.newest))
		}
		if again := r.text(t); again != "" || len(r.streams()) != 1 {
			t.Errorf("it is read again: %q, %v", again, r.streams())
		}
	})
}

func TestWhyNoPodHasALogYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, changed := followRollout(), make(chan struct{})
		why := map[string]*page.NoLogError{
			"shop-00": {Words: "There is no log: Pod shop-00 has ended.", Never: true},
			"shop-01": {Words: "There is no log: Pod shop-01 has no node yet."},
		}
		r.tail = func(_ context.Context, pod string) *podlogs.Tail {
			return podlogs.NewTail(changed, func(context.Context) (*podlogs.Lines, error) {
				if none := why[pod]; none != nil {
					return nil, none
				}
				return podlogs.NewLines(io.NopCloser(strings.NewReader("hello\n")), nil), nil
			}, noLogYet)
		}
		for _, c := range []struct {
			newest []string
			want   string
		}{
			{[]string{"shop-01", "shop-00"}, "Replica 01: There is no log: Pod shop-01 has no node yet. It appears here"},
			{[]string{"shop-00"}, "Replica 00: There is no log: Pod shop-00 has ended."},
			{nil, "They appear here"},
			{[]string{"shop-01"}, "Replica 01: There is no log: Pod shop-01 has no node yet."},
		} {
			r.newest = c.newest
			r.text(t) // begins
			r.text(t)
			if got := r.noteOn(r.newest); !strings.HasPrefix(got, noCopyYet+" "+c.want) {
				t.Errorf("of %v the note is %q, want %q", c.newest, got, c.want)
			}
		}
		why["shop-01"] = nil
		changed <- struct{}{}
		if got := r.text(t); got != "[01] hello" {
			t.Errorf("once it has a log, %q is shown", got)
		}
	})
}
