package cluster

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
)

func TestFeedCoalescesAndNeverWaits(t *testing.T) {
	f := newFeed()
	s := f.subscribe(t.Context())
	a, b := Change{Kind: "k", Name: "a"}, Change{Kind: "k", Name: "b"}
	for range 5 {
		f.publish(a)
	}
	f.publish(b)
	<-s.Ready()
	if changes, lost := s.Take(); len(changes) != 2 || lost {
		t.Errorf("%v, %v", changes, lost)
	}
	if changes, lost := s.Take(); len(changes) != 0 || lost {
		t.Errorf("taken twice: %v, %v", changes, lost)
	}
	for i := range maxPending + 1 {
		f.publish(Change{Kind: "k", Name: fmt.Sprint(i)})
	}
	<-s.Ready()
	if changes, lost := s.Take(); len(changes) != 0 || !lost {
		t.Errorf("%d changes, lost %v: want to be told of the loss", len(changes), lost)
	}
	f.publish(a)
	if changes, lost := s.Take(); len(changes) != 1 || lost {
		t.Errorf("after a loss: %v, %v", changes, lost)
	}
}

func TestWhatDoesNotConcernASubscriberDoesNotWakeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := newFeed()
		s := f.subscribe(ctx)
		out := Concerning(ctx, s, func(c Change) bool { return c.Namespace == "payments" })
		told := func() bool {
			synctest.Wait()
			select {
			case <-out:
				return true
			default:
				return false
			}
		}
		f.publish(Change{Kind: "k", Namespace: "search"})
		if len(s.pending) > 0 || told() {
			t.Errorf("told of another namespace; %d changes wait", len(s.pending))
		}
		f.publish(Change{Kind: "k", Namespace: "payments"})
		if !told() {
			t.Error("not told of its own namespace")
		}
		for i := range maxPending + 1 {
			f.publish(Change{Kind: "k", Namespace: "search", Name: fmt.Sprint(i)})
		}
		if told() {
			t.Error("changes that do not concern it count as lost")
		}
	})
}

func TestFeedForgetsWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		ctx, cancel := context.WithCancel(t.Context())
		f.subscribe(ctx)
		cancel()
		synctest.Wait()
		if len(f.subs) != 0 {
			t.Errorf("%d subscribers", len(f.subs))
		}
	})
}

func TestFeedTellsWhatChanged(t *testing.T) {
	f := newFeed()
	s := f.subscribe(t.Context())
	k := bucketRef(t).Kind
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
	h := f.objects(k)
	h.OnAdd(obj("1"), false)
	want("added", about)
	h.OnUpdate(obj("1"), obj("1"))
	want("a resync")
	h.OnUpdate(obj("1"), obj("2"))
	want("updated", about)
	h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "n/x", Obj: obj("2")})
	want("deleted unseen", about)

	e := f.events(catalog.Catalog{k})
	event := &corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "S3Bucket", Namespace: "n", Name: "x"}}
	about.Events = true
	e.OnAdd(event, false)
	want("an event", about)
	e.OnAdd(&corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Pod"}}, false)
	want("an event about something else")
}

func TestStripRemovesWhatMayHoldSecrets(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAnnotations(map[string]string{lastApplied: "secret", "mine": "1"})
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x"}})
	if _, err := strip(o); err != nil {
		t.Fatal(err)
	}
	if a := o.GetAnnotations(); len(a) != 1 || a["mine"] != "1" || len(o.GetManagedFields()) != 0 {
		t.Errorf("%v", o.Object)
	}
	if in, err := strip(toolscache.DeletedFinalStateUnknown{Key: "a"}); err != nil || in == nil {
		t.Errorf("a tombstone: %v", err)
	}
}

func TestProvidersFailClosed(t *testing.T) {
	labels := map[string]string{"team": "payments"}
	for reason, c := range map[string]struct {
		spec map[string]any
		want bool
	}{
		"no selector":             {map[string]any{}, false},
		"no spec":                 {nil, false},
		"all":                     {map[string]any{"allowedNamespaces": map[string]any{}}, true},
		"a label":                 {map[string]any{"allowedNamespaces": map[string]any{"matchLabels": map[string]any{"team": "payments"}}}, true},
		"another label":           {map[string]any{"allowedNamespaces": map[string]any{"matchLabels": map[string]any{"team": "search"}}}, false},
		"a broken one":            {map[string]any{"allowedNamespaces": map[string]any{"matchExpressions": []any{map[string]any{"key": "team", "operator": "Maybe"}}}}, false},
		"no map":                  {map[string]any{"allowedNamespaces": "all"}, false},
		"labels that are no text": {map[string]any{"allowedNamespaces": map[string]any{"matchLabels": map[string]any{"team": int64(1)}}}, false},
	} {
		if got := selects(&unstructured.Unstructured{Object: map[string]any{"spec": c.spec}}, labels); got != c.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}
