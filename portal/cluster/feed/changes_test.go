package feed

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

func TestFeedCoalescesAndNeverWaits(t *testing.T) {
	f := NewChanges()
	s := f.Subscribe(t.Context())
	a, b := Change{Kind: "k", Name: "a"}, Change{Kind: "k", Name: "b"}
	for range 5 {
		f.Publish(a)
	}
	f.Publish(b)
	<-s.Ready()
	if changes, lost := s.Take(); len(changes) != 2 || lost {
		t.Errorf("%v, %v", changes, lost)
	}
	if changes, lost := s.Take(); len(changes) != 0 || lost {
		t.Errorf("taken twice: %v, %v", changes, lost)
	}
	for i := range maxPending + 1 {
		f.Publish(Change{Kind: "k", Name: fmt.Sprint(i)})
	}
	<-s.Ready()
	if changes, lost := s.Take(); len(changes) != 0 || !lost {
		t.Errorf("%d changes, lost %v: want to be told of the loss", len(changes), lost)
	}
	f.Publish(a)
	if changes, lost := s.Take(); len(changes) != 1 || lost {
		t.Errorf("after a loss: %v, %v", changes, lost)
	}
}

func TestWhatDoesNotConcernASubscriberDoesNotWakeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := NewChanges()
		s := f.Subscribe(ctx)
		out := s.Concerning(ctx, func(c Change) bool { return c.Namespace == "payments" })
		told := func() bool {
			synctest.Wait()
			select {
			case <-out:
				return true
			default:
				return false
			}
		}
		f.Publish(Change{Kind: "k", Namespace: "search"})
		if len(s.pending) > 0 || told() {
			t.Errorf("told of another namespace; %d changes wait", len(s.pending))
		}
		f.Publish(Change{Kind: "k", Namespace: "payments"})
		if !told() {
			t.Error("not told of its own namespace")
		}
		for i := range maxPending + 1 {
			f.Publish(Change{Kind: "k", Namespace: "search", Name: fmt.Sprint(i)})
		}
		if told() {
			t.Error("changes that do not concern it count as lost")
		}
	})
}

func TestFeedForgetsWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewChanges()
		ctx, cancel := context.WithCancel(t.Context())
		f.Subscribe(ctx)
		cancel()
		synctest.Wait()
		if len(f.subs) != 0 {
			t.Errorf("%d subscribers", len(f.subs))
		}
	})
}

func TestFeedTellsWhatChanged(t *testing.T) {
	f := NewChanges()
	s := f.Subscribe(t.Context())
	k, _ := catalogtest.Kinds(t).ByPlural("s3buckets")
	obj := func(version string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetNamespace("n")
		o.SetName("x")
		o.SetResourceVersion(version)
		return o
	}
	want := func(reason string, change ...Change) {
		t.Helper()
		got, _ := s.Take()
		if len(got) != len(change) || (len(got) == 1 && got[0] != change[0]) {
			t.Errorf("%s: %v, want %v", reason, got, change)
		}
	}
	about := Change{Kind: "s3buckets", Namespace: "n", Name: "x"}
	h := f.named(k.Plural)
	h.OnAdd(obj("1"), false)
	want("added", about)
	h.OnUpdate(obj("1"), obj("1"))
	want("a resync")
	h.OnUpdate(obj("1"), obj("2"))
	want("updated", about)
	h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "n/x", Obj: obj("2")})
	want("deleted unseen", about)

	e := f.events(catalog.NewLive(catalog.Catalog{k}))
	event := &corev1.Event{InvolvedObject: corev1.ObjectReference{
		APIVersion: "portico.dev/v1alpha1", Kind: "S3Bucket", Namespace: "n", Name: "x",
	}}
	about.Events = true
	e.OnAdd(event, false)
	want("an event", about)
	e.OnAdd(&corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Pod"}}, false)
	want("an event about something else")
}

func TestStripRemovesWhatMayHoldSecrets(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAnnotations(map[string]string{LastApplied: "secret", "mine": "1"})
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x"}})
	if _, err := Strip(o); err != nil {
		t.Fatal(err)
	}
	if a := o.GetAnnotations(); len(a) != 1 || a["mine"] != "1" || len(o.GetManagedFields()) != 0 {
		t.Errorf("%v", o.Object)
	}
	if in, err := Strip(toolscache.DeletedFinalStateUnknown{Key: "a"}); err != nil || in == nil {
		t.Errorf("a tombstone: %v", err)
	}
}
