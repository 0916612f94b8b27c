package rest

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/sse"
)

// calling returns the context of a request.
func calling(t *testing.T) context.Context {
	t.Helper()
	return auth.WithIdentity(t.Context(), kubetest.Dev)
}

// startWatching returns a stream over the matching buckets of payments, after its snapshot.
func startWatching(t *testing.T, f *fakeCluster, filter Filter, v view) *watching {
	t.Helper()
	f.show()
	var err error
	if v.filter, err = filter.read(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	_, v.order = BatchQuery{}.order()
	w := newWatching(&API{cluster: f.parts(), log: slog.New(slog.DiscardHandler)}, v,
		f.Feed.Changes.Subscribe(t.Context()))
	if _, err := w.render(calling(t)); err != nil {
		t.Fatal(err)
	}
	return w
}

// tellings returns a short form of events: "changed logs", "deleted logs gone".
func tellings(t *testing.T, parts []sse.Part) string {
	t.Helper()
	var out []string
	for _, p := range parts {
		var v struct {
			Name, Reason string
			Metadata     struct{ Name string }
		}
		if err := json.Unmarshal([]byte(p.Text), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.TrimSpace(p.Event+" "+v.Metadata.Name+v.Name+" "+v.Reason))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestStreamsTellWhatChanged(t *testing.T) {
	of := func(kind, namespace string) feed.Change {
		return feed.Change{Kind: kind, Namespace: namespace, Name: "logs"}
	}
	there := of("s3buckets", "payments")
	for _, c := range []struct {
		reason string
		filter Filter
		every  bool // namespace
		change func(f *fakeCluster)
		told   []feed.Change
		lost   bool
		want   string
	}{
		{"nothing is another one", Filter{}, false, func(*fakeCluster) {}, []feed.Change{there}, false, ""},
		{"a new version", Filter{}, false, func(f *fakeCluster) { f.objects[0].SetResourceVersion("9") }, []feed.Change{there, there}, false, "changed logs"},
		{
			"events only",
			Filter{},
			false, func(f *fakeCluster) { f.objects[0].SetResourceVersion("9") },
			[]feed.Change{{Kind: "s3buckets", Namespace: "payments", Name: "logs", Events: true}},
			false, "",
		},
		{"another namespace", Filter{}, false, func(f *fakeCluster) { f.objects[0].SetResourceVersion("9") }, []feed.Change{of("s3buckets", "search")}, false, ""},
		{"another kind", Filter{}, false, func(f *fakeCluster) { f.objects[0].SetResourceVersion("9") }, []feed.Change{of("sqsqueues", "payments")}, false, ""},
		{"too many to keep", Filter{}, false, func(f *fakeCluster) { f.objects[0].SetResourceVersion("9") }, nil, true, "changed logs"},
		{"one more", Filter{}, false, func(f *fakeCluster) { f.objects = append(f.objects, bucket(f.t, "payments", "new", "")) }, []feed.Change{there}, false, "changed new"},
		{"one less", Filter{}, false, func(f *fakeCluster) { f.objects = f.objects[1:] }, []feed.Change{there}, false, "deleted logs gone"},
		{"a namesake", Filter{}, false, func(f *fakeCluster) { f.objects[0].SetUID("v") }, []feed.Change{there}, false, "changed logs, deleted logs gone"},
		{"it stops matching", Filter{Status: "ready"}, false, func(f *fakeCluster) { setCondition(f.objects[0], "False", "Failed") }, []feed.Change{there}, false, "deleted logs unmatched"},
		{"it begins to match", Filter{Status: "needs-you"}, false, func(f *fakeCluster) { setCondition(f.objects[0], "False", "Failed") }, []feed.Change{there}, false, "changed logs"},
		{"it never matches", Filter{Search: "x"}, false, func(f *fakeCluster) { f.objects[0].SetResourceVersion("9") }, []feed.Change{there}, false, ""},
		{"changes are lost, and with them the right in one namespace", Filter{}, true, func(f *fakeCluster) {
			f.denied = []string{"list ", "list payments"}
		}, nil, true, "deleted archive forbidden, deleted logs forbidden, deleted media forbidden"},
		{"changes are lost, and one is no more", Filter{}, true, func(f *fakeCluster) { f.objects = f.objects[1:] }, nil, true, "deleted logs gone"},
		{"one namespace among others can be seen no more", Filter{}, true, func(f *fakeCluster) {
			f.denied = []string{"list payments"}
		}, []feed.Change{there}, false, "deleted archive forbidden, deleted logs forbidden, deleted media " +
			"forbidden"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			f := several(t)
			v := view{kinds: catalog.Catalog{kind(t, f, "s3buckets")}, namespace: "payments"}
			if c.every {
				v = view{kinds: f.Kinds.Requestable()}
			}
			w := startWatching(t, f, c.filter, v)
			for i := range f.objects { // the cache returns a new object each time
				f.objects[i] = f.objects[i].DeepCopy()
			}
			c.change(f)
			f.tell(c.lost, c.told...)
			parts, err := w.render(calling(t))
			if got := tellings(t, parts); err != nil || got != c.want {
				t.Errorf("tells %q, %v, want %q", got, err, c.want)
			}
			f.tell(c.lost, c.told...)
			if again, err := w.render(calling(t)); err != nil || len(again) > 0 {
				t.Errorf("tells %q again, %v", tellings(t, again), err)
			}
		})
	}
}

func kind(t *testing.T, f *fakeCluster, plural string) catalog.Kind {
	t.Helper()
	k, ok := f.Kinds.ByPlural(plural)
	if !ok {
		t.Fatalf("no kind %s", plural)
	}
	return k
}

func TestStreamsEndWithTheRight(t *testing.T) {
	f := several(t)
	for _, v := range []view{
		{kinds: catalog.Catalog{kind(t, f, "s3buckets")}, namespace: "payments"},
		{kinds: catalog.Catalog{kind(t, f, "s3buckets")}, namespace: "payments", name: "logs"},
		{kinds: catalog.Catalog{kind(t, f, "awsproviders")}},
	} {
		f.denied = nil
		w := startWatching(t, f, Filter{}, v)
		if err := w.allowed(calling(t)); err != nil {
			t.Error(err)
		}
		f.denied = []string{"list payments", "get payments", "list "}
		f.show()
		if w.allowed(calling(t)) == nil {
			t.Errorf("%s goes on", v)
		}
	}
}

// stream opens a stream; next returns its lines of events and data.
func (f *fakeCluster) stream(t *testing.T, path string) (status int, contentType string, next func() string) {
	t.Helper()
	srv := httptest.NewServer(f.serve())
	t.Cleanup(srv.Close)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", token())
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return resp.StatusCode, resp.Header.Get("Content-Type"), func() string {
		for lines.Scan() {
			if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok && lines.Scan() {
				return event + " " + strings.TrimPrefix(lines.Text(), "data: ")
			}
		}
		return ""
	}
}

func TestListsAndObjectsCanBeWatched(t *testing.T) {
	for path, first := range map[string]string{
		buckets + "?watch=true&sort=-age&labelSelector=team": `"archive"`,
		"/resources?watch=true&status=needs-you":             `"archive"`,
		buckets + "/archive?watch=true":                      `"archive"`,
		"/awsproviders?watch=true":                           `"items":[]`,
	} {
		f := several(t)
		status, kind, next := f.stream(t, path)
		got := next()
		if status != 200 || kind != "text/event-stream" {
			t.Errorf("%s: %d %s, want 200 text/event-stream", path, status, kind)
		}
		if !strings.HasPrefix(got, "snapshot {") || !strings.Contains(got, `"complete":true`) {
			t.Errorf("%s begins with %s, want a complete snapshot", path, got)
		}
		if !strings.Contains(got, first) {
			t.Errorf("%s begins with %s, want %s in it", path, got, first)
		}
	}
	f := several(t)
	_, _, next := f.stream(t, buckets+"/logs?watch=true")
	next()
	f.mu.Lock() // the stream reads only after a change
	f.objects = slices.Clone(f.objects[1:])
	f.mu.Unlock()
	f.tell(false, feed.Change{Kind: "s3buckets", Namespace: "payments", Name: "logs"})
	if got, want := next(),
		`deleted {"uid":"u","kind":"S3Bucket","namespace":"payments","name":"logs","reason":"gone"}`; got != want {
		t.Errorf("tells %s, want %s", got, want)
	}
}

func TestStreamsThatCannotBegin(t *testing.T) {
	f := several(t)
	wantProblem(t, f.call("GET", buckets+"/none?watch=true", ""), 404)
	wantProblem(t, f.call("GET", "/namespaces/A/s3buckets?watch=true", ""), 403)
	f.denied = []string{"list payments", "get payments"}
	wantProblem(t, f.call("GET", buckets+"/logs?watch=true", ""), 403)
	wantProblem(t, f.call("GET", buckets+"?watch=true", ""), 403)
}

func TestOneUserHasSoManyStreams(t *testing.T) {
	f := several(t)
	for range sse.MaxStreams {
		if status, _, next := f.stream(t, buckets+"?watch=true"); status != 200 || next() == "" {
			t.Fatalf("status %d", status)
		}
	}
	status, kind, _ := f.stream(t, buckets+"?watch=true")
	if status != 429 || kind != "application/problem+json" {
		t.Errorf("one more: %d %s", status, kind)
	}
}
