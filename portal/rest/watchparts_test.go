package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/sse"
)

// TestSnapshotsComeInMessagesOfTheirOwn: changes during a large snapshot are sent after it, once.
func TestSnapshotsComeInMessagesOfTheirOwn(t *testing.T) {
	f := newFake(t)
	for i := range 2*perMessage + 1 {
		f.objects = append(f.objects, bucket(t, "payments", fmt.Sprintf("b%03d", i), ""))
	}
	k := kind(t, f, "s3buckets")
	v := view{kinds: catalog.Catalog{k}, namespace: "payments"}
	_, v.order = BatchQuery{}.order()
	f.show()
	w := newWatching(&API{cluster: f.parts(), log: slog.New(slog.DiscardHandler)}, v,
		f.Feed.Changes.Subscribe(t.Context()))
	var names []string
	for i := range 3 {
		parts, err := w.render(calling(t))
		more := errors.Is(err, sse.ErrMore)
		if err != nil && !more || more != (i < 2) {
			t.Fatalf("message %d: error = %v, want more: %v", i, err, i < 2)
		}
		if len(parts) != 1 {
			t.Fatalf("message %d has %d parts, want 1", i, len(parts))
		}
		var got struct {
			Items    []unstructured.Unstructured
			Complete bool
		}
		if err := json.Unmarshal([]byte(parts[0].Text), &got); err != nil || parts[0].Event != "snapshot" ||
			got.Complete != (i == 2) {
			t.Errorf("message %d is %s, complete %v, %v", i, parts[0].Event, got.Complete, err)
		}
		for _, o := range got.Items {
			names = append(names, o.GetName())
		}
		if i == 0 { // one sent object changes, one that was not sent is deleted, and one is created
			f.objects[0] = f.objects[0].DeepCopy()
			f.objects[0].SetResourceVersion("9")
			f.objects = append(f.objects[:2*perMessage:2*perMessage], bucket(t, "payments", "new", ""))
			f.tell(false, feed.Change{Kind: k.Plural, Namespace: "payments", Name: "b000"})
		}
	}
	if len(names) != 2*perMessage+1 || !slices.IsSorted(names) {
		t.Errorf("%d objects: %v", len(names), names)
	}
	parts, err := w.render(calling(t))
	if got, want := tellings(t, parts), "changed b000, changed new, deleted b400 gone"; err != nil || got != want {
		t.Errorf("then tells %q, %v, want %q", got, err, want)
	}
	if parts, err = w.render(calling(t)); err != nil || len(parts) > 0 {
		t.Errorf("tells %q again, %v", tellings(t, parts), err)
	}
}

// TestManyChangesComeInMessagesOfTheirOwn, like a snapshot.
func TestManyChangesComeInMessagesOfTheirOwn(t *testing.T) {
	f := newFake(t)
	w := startWatching(t, f, Filter{}, view{kinds: catalog.Catalog{kind(t, f, "s3buckets")}, namespace: "payments"})
	for i := range perMessage + 1 {
		f.objects = append(f.objects, bucket(t, "payments", fmt.Sprintf("b%03d", i), ""))
	}
	f.tell(true)
	first, err := w.render(calling(t))
	second, last := w.render(calling(t))
	if len(first) != perMessage || !errors.Is(err, sse.ErrMore) {
		t.Errorf("first message: %d parts, %v, want %d and more", len(first), err, perMessage)
	}
	if len(second) != 1 || last != nil {
		t.Errorf("second message: %d parts, %v, want 1 and the end", len(second), last)
	}
}

// TestKindsThatMayNotBeSeenAreLeftOut of lists and streams, which say so.
func TestKindsThatMayNotBeSeenAreLeftOut(t *testing.T) {
	f := several(t)
	f.denied = []string{"list payments sqsqueues"}
	w := f.call("GET", "/resources?namespace=payments", "")
	if got := listOf(t, w.Body.Bytes()); w.Code != 200 || len(got.Items) != 3 ||
		!slices.Equal(got.Forbidden, []string{"sqsqueues"}) {
		t.Errorf("%d %d objects without %v", w.Code, len(got.Items), got.Forbidden)
	}
	wantProblem(t, f.call("GET", "/resources?namespace=payments&kind=sqsqueues", ""), 403)
	_, _, next := f.stream(t, "/resources?namespace=payments&watch=true")
	if got := next(); !strings.HasPrefix(got, "snapshot ") ||
		!strings.HasSuffix(got, `"complete":true,"forbidden":["sqsqueues"]}`) {
		t.Errorf("the stream begins with %s", got)
	}
	s := startWatching(t, f, Filter{}, view{kinds: f.Kinds.Requestable(), namespace: "payments"})
	if err := s.allowed(calling(t)); err != nil {
		t.Errorf("the stream ends: %v", err)
	}
	for _, now := range [][]string{nil, {"list payments sqsqueues", "list payments s3buckets"}} { // more, and fewer
		f.denied = now
		if f.show(); s.allowed(calling(t)) == nil {
			t.Errorf("goes on when %v is denied", now)
		}
	}
	f.tell(false, feed.Change{Kind: "s3buckets", Namespace: "payments", Name: "logs"})
	parts, err := s.render(calling(t))
	if got, want := tellings(t, parts), "deleted archive forbidden, deleted logs forbidden, deleted media "+
		"forbidden"; err != nil || got != want {
		t.Errorf("tells %q, %v, want %q", got, err, want)
	}
	f.denied = []string{"list payments"}
	wantProblem(t, f.call("GET", "/resources?namespace=payments", ""), 403)
	wantProblem(t, f.call("GET", "/resources?namespace=payments&watch=true", ""), 403)
	if s.allowed(calling(t)) == nil {
		t.Error("goes on without any right")
	}
}
