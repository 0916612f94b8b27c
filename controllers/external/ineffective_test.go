package external

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// loop is the engine over one shelf, with a clock that passes advance.
type loop struct {
	*engine.Reconciler[*v1alpha1.S3Bucket]
	t      *testing.T
	now    time.Time
	events *events.FakeRecorder
}

func loopOver(t *testing.T, s *shelf, b *v1alpha1.S3Bucket) *loop {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	l := &loop{t: t, now: time.Unix(1_000_000, 0), events: events.NewFakeRecorder(100)}
	work := drive2(s)
	work.Now = func() time.Time { return l.now }
	l.Reconciler = &engine.Reconciler[*v1alpha1.S3Bucket]{
		Kind: "S3Bucket", KindReconciler: work, Events: l.events, Records: &engine.Records{},
		Client:   fake.NewClientBuilder().WithScheme(scheme).WithObjects(b).WithStatusSubresource(b).Build(),
		Schedule: engine.Schedule{Resync: time.Hour, Now: work.Now, Jitter: func() float64 { return .5 }},
	}
	return l
}

// pass runs one pass, at the time that the previous one requested, and returns the Ready condition.
func (l *loop) pass() metav1.Condition {
	l.t.Helper()
	b := &v1alpha1.S3Bucket{}
	if err := l.Client.Get(l.t.Context(), client.ObjectKey{Namespace: "n", Name: "b"}, b); err != nil {
		l.t.Fatal(err)
	}
	result, err := l.Reconcile(l.t.Context(), b)
	if err != nil {
		l.t.Fatal(err)
	}
	l.now = l.now.Add(result.RequeueAfter)
	for _, c := range b.Status.Conditions {
		if c.Type == v1alpha1.ConditionReady {
			return c
		}
	}
	return metav1.Condition{}
}

// A service may accept a value and ignore it. It is written a few times, never before it should be visible; then the
// condition names the field, and the tries become rare.
func TestAValueThatIsNotKeptIsNamedAndWrittenEverMoreSeldom(t *testing.T) {
	s := &shelf{has: theirs("30", "none"), deaf: true}
	b := bucket(made)
	b.Spec.Tags = v1alpha1.Tags{"first": "60"}
	l := loopOver(t, s, b)
	start, seen := l.now, metav1.Condition{}
	for l.now.Sub(start) < time.Hour {
		before := len(s.writes)
		got := l.pass()
		switch {
		case len(s.writes) < maxIneffective && got.Reason != "Settling":
			t.Fatalf("after %d writes it is %s: %s", len(s.writes), got.Reason, got.Message)
		case len(s.writes) >= maxIneffective &&
			(got.Reason != "NotKept" || !strings.Contains(got.Message, "first 30 → 60")):
			t.Fatalf("after %d writes it is %s: %s", len(s.writes), got.Reason, got.Message)
		case len(s.writes) > before+1:
			t.Fatalf("one pass wrote %d times", len(s.writes)-before)
		}
		seen = got
	}
	if n := len(s.writes); n > 20 {
		t.Errorf("%d writes in an hour, want one in five minutes", n)
	}
	if n := len(l.events.Events); n > 3 { // Updated, Settling, NotKept
		t.Errorf("%d events", n)
	}
	s.deaf = false
	for range 2 {
		seen = l.pass()
	}
	if seen.Reason != v1alpha1.ReasonInSync {
		t.Errorf("once it is kept it is %s: %s", seen.Reason, seen.Message)
	}
}

// Each value has its own count: two of them do not reset each other's.
func TestTwoValuesThatAreNotKeptAreBothNamedAndWrittenEverMoreSeldom(t *testing.T) {
	s := &shelf{has: theirs("30", "4"), deaf: true}
	b := bucket(made)
	b.Spec.Tags = v1alpha1.Tags{"first": "60", "second": "5"}
	l := loopOver(t, s, b)
	start, told := l.now, map[string]int{}
	for l.now.Sub(start) < time.Hour {
		got := l.pass()
		want, both := "Settling", "Put (first 30 → 60) and Put (second 4 → 5) were accepted"
		if len(s.writes) >= 2*maxIneffective {
			want, both = "NotKept", both+" again and again, and do not show"
		}
		if got.Reason != want || !strings.Contains(got.Message, both) {
			t.Fatalf("after %d writes it is %s: %s", len(s.writes), got.Reason, got.Message)
		}
		told[got.Message]++
	}
	if n := len(s.writes); n < 2*maxIneffective || n > 40 {
		t.Errorf("%d writes in an hour, want two in five minutes", n)
	}
	if len(told) != 2 {
		t.Errorf("the messages change: %v", told)
	}
	s.deaf = false
	l.pass()
	if got := l.pass(); got.Reason != v1alpha1.ReasonInSync {
		t.Errorf("once they are kept it is %s: %s", got.Reason, got.Message)
	}
}

// A value that takes a quarter of an hour to become visible is written once, checked now and then, and not reported as
// ignored too early.
func TestAValueThatShowsLateIsWrittenOnce(t *testing.T) {
	s := &shelf{has: theirs("30", "none"), deaf: true, settles: 15 * time.Minute}
	b := bucket(made)
	b.Spec.Tags = v1alpha1.Tags{"first": "60"}
	l := loopOver(t, s, b)
	start, looks := l.now, 0
	for l.now.Sub(start) < 15*time.Minute-time.Second {
		if got := l.pass(); got.Reason != "Settling" || len(s.writes) != 1 {
			t.Fatalf("after %s, with %d writes: %s: %s", l.now.Sub(start), len(s.writes), got.Reason, got.Message)
		}
		looks++
	}
	if looks > settlingLooks+3 {
		t.Errorf("%d looks", looks)
	}
	s.deaf, s.has = false, theirs("60", "none")
	if got := l.pass(); got.Reason != v1alpha1.ReasonInSync || len(s.writes) != 1 {
		t.Errorf("shown: %s: %s, %d writes", got.Reason, got.Message, len(s.writes))
	}
}
