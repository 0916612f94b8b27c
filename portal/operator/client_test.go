package operator

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/api/operatorapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var logs = Object{Kind: "S3Bucket", Namespace: "payments", Name: "logs", UID: "1"}

// bench is a client with a fake clock.
type bench struct {
	*Client
	t       *testing.T
	cluster *cluster
	clock   *clocktesting.FakePassiveClock
	logged  *strings.Builder
}

func newBench(t *testing.T, first *leader) *bench {
	t.Helper()
	b := &bench{
		t: t, cluster: &cluster{}, clock: clocktesting.NewFakePassiveClock(time.Now()),
		logged: &strings.Builder{},
	}
	if first != nil {
		b.cluster.leads(first)
	}
	b.Client = New(b.cluster, b.clock, slog.New(slog.NewTextHandler(b.logged, nil)))
	t.Cleanup(b.Close)
	return b
}

// later moves the clock until cached answers and an open circuit have expired.
func (b *bench) later() { b.clock.SetTime(b.clock.Now().Add(max(shared, openFor))) }

func (b *bench) want(state State, reason string) {
	b.t.Helper()
	if got := b.Of(b.t.Context(), logs); got.State != state || got.Reason != reason {
		b.t.Errorf("got %s %q, want %s %q; logged %s", got.State, got.Reason, state, reason, b.logged)
	}
}

func TestAnswersAreShared(t *testing.T) {
	l := newLeader(t, "one")
	b := newBench(t, l)
	for range 3 {
		b.want(Checked, "one")
	}
	if l.asked.Load() != 1 || b.cluster.reads != 1 {
		t.Errorf("asked %d times, %d looks at the Lease", l.asked.Load(), b.cluster.reads)
	}
	newer, first := logs, *l.answer.Load()
	newer.Version = "2"
	l.says(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"uid":"1","reason":"InSync"}`)
	})
	for range 3 { // of an object whose status was written since
		if got := b.Of(t.Context(), newer); got.Reason != "InSync" {
			t.Errorf("an answer older than the status: %q", got.Reason)
		}
	}
	l.says(first)
	if l.asked.Load() != 2 {
		t.Errorf("asked %d times for two versions", l.asked.Load())
	}
	b.later()
	b.want(Checked, "one")
	if l.asked.Load() != 3 || b.cluster.reads != 1 {
		t.Errorf("asked %d times, %d looks at the Lease", l.asked.Load(), b.cluster.reads)
	}
	b.clock.SetTime(b.clock.Now().Add(placeFor))
	b.want(Checked, "one")
	if b.cluster.reads != 2 {
		t.Errorf("%d looks at the Lease", b.cluster.reads)
	}
}

func TestItFollowsTheLeader(t *testing.T) {
	one, two := newLeader(t, "one"), newLeader(t, "two")
	b := newBench(t, one)
	b.want(Checked, "one")
	one.Close()
	b.cluster.leads(two)
	b.later()
	b.want(Checked, "two")
	// The address of the second one with the certificate of another: somebody else listens there now.
	b.cluster.leads(two)
	three := newLeader(t, "three")
	b.cluster.ca, b.cluster.url = three.ca, two.URL
	two.CloseClientConnections()
	b.clock.SetTime(b.clock.Now().Add(placeFor))
	asked := two.asked.Load()
	b.want(Unknown, "")
	if two.asked.Load() != asked {
		t.Error("a token went to a server that was not announced")
	}
}

func TestNobodyIsAskedWhileTheCircuitIsOpen(t *testing.T) {
	l := newLeader(t, "one")
	b := newBench(t, l)
	l.says(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	b.want(Unknown, "")
	asked := l.asked.Load()
	for range 3 {
		b.want(Unknown, "")
	}
	if l.asked.Load() != asked {
		t.Errorf("asked %d times while the circuit was open", l.asked.Load()-asked)
	}
	b.later()
	b.want(Unknown, "")
	l.says(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"uid":"1","reason":"back"}`) })
	b.later()
	b.want(Checked, "back")
	if n := strings.Count(b.logged.String(), "does not answer"); n != 1 ||
		!strings.Contains(b.logged.String(), "answers again") || strings.Contains(b.logged.String(), "token-1") {
		t.Errorf("logged %s", b.logged)
	}
}

// Too many questions at once, perhaps of one team, make the answers of others no less known.
func TestABusyOperatorIsAskedAgainAtOnce(t *testing.T) {
	l := newLeader(t, "one")
	b := newBench(t, l)
	l.says(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	b.want(Unknown, "")
	l.says(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"uid":"1","reason":"fine"}`) })
	b.want(Checked, "fine")
	if strings.Contains(b.logged.String(), "does not answer") {
		t.Errorf("logged %s", b.logged)
	}
}

func TestOneTriesForAllWhetherTheOperatorIsBack(t *testing.T) {
	b := newBench(t, nil)
	b.want(Unknown, "")
	b.later()
	if _, ask := b.before(request{}); !ask {
		t.Error("nobody tries")
	}
	if _, ask := b.before(request{}); ask {
		t.Error("two try at a time")
	}
}

func TestAnswersOfAllSorts(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   State
	}{
		"not checked yet":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, Unchecked},
		"a namesake":        {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"uid":"0","reason":"x"}`) }, Unchecked},
		"more than we know": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"uid":"1","new":true}`) }, Checked},
		"no JSON":           {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `<html>`) }, Unknown},
		"refused":           {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, Unknown},
		"no token":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, Unknown},
		"elsewhere":         {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/inspect/other", http.StatusFound) }, Unknown},
		"it breaks off":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLeader(t, "")
			l.says(c.answer)
			b := newBench(t, l)
			b.want(c.want, "")
			if dropped := len(b.cluster.dropped) > 0; dropped != (name == "no token") {
				t.Errorf("tokens dropped: %v", b.cluster.dropped)
			}
		})
	}
}

func TestPlacesThatAreNone(t *testing.T) {
	l := newLeader(t, "one")
	for name, change := range map[string]func(*cluster){
		"no Lease":            func(c *cluster) { c.leaseErr = errors.New("not found") },
		"nobody leads":        func(c *cluster) { c.holder = "" },
		"nothing announced":   func(c *cluster) { c.url = "" },
		"no certificate":      func(c *cluster) { c.ca = "" },
		"a wrong certificate": func(c *cluster) { c.ca = "rubbish" },
		"without TLS":         func(c *cluster) { c.url = strings.Replace(c.url, "https", "http", 1) },
		"with a user":         func(c *cluster) { c.url = strings.Replace(c.url, "https://", "https://a:b@", 1) },
		"with a path":         func(c *cluster) { c.url += "/x" },
		"no URL":              func(c *cluster) { c.url = ":" },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, l)
			change(b.cluster)
			asked := l.asked.Load()
			b.want(Unknown, "")
			if l.asked.Load() != asked || b.cluster.tokens > 0 {
				t.Error("asked all the same")
			}
		})
	}
}

func TestNobodyWaitsForLong(t *testing.T) {
	l := newLeader(t, "one")
	leave := make(chan struct{})
	l.says(func(http.ResponseWriter, *http.Request) { <-leave })
	t.Cleanup(func() { close(leave) })
	b := newBench(t, l)
	began := time.Now()
	b.want(Unknown, "")
	if took := time.Since(began); took > Patience+time.Second {
		t.Errorf("waited %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.later()
	if got := b.Of(ctx, logs); got.State != Unknown {
		t.Errorf("for a reader who has gone: %s", got.State)
	}
	time.Sleep(Patience + 100*time.Millisecond) // the abandoned request ends by itself
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	b := newBench(t, nil)
	for name, c := range map[string]struct{ asked, bytes, most int }{
		"many": {3 * kept, 100, kept}, "large": {100, keptBytes / 10, 10},
	} {
		of := func(i int) request { return request{path: name, about: strconv.Itoa(i), shared: shared} }
		for i := range c.asked {
			b.after(of(i), answer{words: Checks{State: Unchecked}, bytes: c.bytes}, nil)
		}
		known := 0
		for i := range c.asked {
			if _, wanted := b.before(of(i)); !wanted {
				known++
			}
		}
		if known == 0 || known > c.most {
			t.Errorf("%s: %d answers are kept", name, known)
		}
	}
}

// What the operator reads from AWS is kept by the operator alone, so that no replica shows an older list, or that there
// is none yet.
func TestListsAreKeptByTheOperatorAlone(t *testing.T) {
	l := newLeader(t, "one")
	l.says(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"items":[],"pending":true}`) })
	b := newBench(t, l)
	for range 2 {
		if got := b.Offers(t.Context(), operatorapi.OfferQuery{Field: "engine"}); !got.Known || !got.Pending {
			t.Errorf("offers: %+v", got)
		}
		if got := b.Deleted(t.Context(), "payments"); !got.Known || !got.Pending {
			t.Errorf("deleted: %+v", got)
		}
	}
	if n := l.asked.Load(); n != 4 {
		t.Errorf("asked %d times", n)
	}
}
