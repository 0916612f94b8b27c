package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// pauses runs passes, each at the time that the previous one requested, and returns the intervals. outcome is called
// before each pass.
func (b *bench) pauses(now *time.Time, passes int, outcome func(pass int) error) []time.Duration {
	b.t.Helper()
	var all []time.Duration
	for n := range passes {
		b.work.sync = outcome(n)
		result, err := b.loop.Reconcile(b.t.Context(), b.read())
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, result.RequeueAfter)
		*now = now.Add(result.RequeueAfter)
	}
	return all
}

func paced(t *testing.T) (*bench, *time.Time) {
	t.Helper()
	b, now := newBench(t, nil), noon
	b.loop.Records = &Records{}
	b.loop.Schedule = Schedule{Resync: time.Hour, Now: func() time.Time { return now }, Jitter: func() float64 {
		return .5
	}}
	return b, &now
}

// A blocked object is retried soon, then after as long as it has been blocked, and at least every five minutes. With
// another cause, or on request, the intervals start over.
func TestWhatIsBlockedIsTriedAgainSoonAndThenMoreSlowly(t *testing.T) {
	b, now := paced(t)
	denied := func(int) error { return Blocked("AccessDenied", "s3:CreateBucket is denied") }
	got := b.pauses(now, 7, denied)
	want := []time.Duration{
		30 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute,
		5 * time.Minute, 5 * time.Minute,
	}
	if !slices.Equal(got, want) {
		t.Errorf("pauses %v, want %v", got, want)
	}
	other := func(int) error { return Blocked("AccessDenied", "s3:PutBucketTagging is denied") }
	if got := b.pauses(now, 2, other); !slices.Equal(got, want[:2]) {
		t.Errorf("pauses %v after one permission of two was granted, want %v", got, want[:2])
	}
	b.pauses(now, 5, other)
	obj := b.read()
	obj.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: "1"}
	if err := b.client.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if got := b.pauses(now, 2, other); !slices.Equal(got, want[:2]) {
		t.Errorf("pauses %v after somebody asked, want %v", got, want[:2])
	}
}

// A successful pass may know that something is due before the next audit.
func TestAPassThatEndsWellMayAskForAnEarlierOne(t *testing.T) {
	b, now := paced(t)
	well := func(int) error { return nil }
	for again, want := range map[time.Duration]time.Duration{
		0: time.Hour, 10 * time.Minute: 10 * time.Minute, 2 * time.Hour: time.Hour,
	} {
		b.work.again = again
		if got := b.pauses(now, 1, well); got[0] != want {
			t.Errorf("%s: it looks again after %s", again, got[0])
		}
	}
	b.work.again = time.Second
	if got := b.pauses(now, 1, func(int) error {
		return Wait("Creating", time.Minute, "soon")
	}); got[0] != time.Minute {
		t.Errorf("while it waits: %s", got[0])
	}
}

// A simulator that is faster than AWS is polled sooner, and never at once.
func TestPollsAreScaled(t *testing.T) {
	for _, row := range []struct {
		scale       float64
		after, want time.Duration
	}{
		{0, 20 * time.Second, 20 * time.Second},
		{1, 20 * time.Second, 20 * time.Second},
		{.1, 20 * time.Second, 2 * time.Second},
		{.001, 20 * time.Second, soonestPoll},
		{.001, 100 * time.Millisecond, 100 * time.Millisecond},
	} {
		wait := judge(Wait("Creating", row.after, "it is being created"), false, false, Schedule{})
		wait.immediate = false
		if got := wait.next(Schedule{Scale: row.scale}, 0).RequeueAfter; got != row.want {
			t.Errorf("%s at scale %v: %s, want %s", row.after, row.scale, got, row.want)
		}
	}
}

// A wait of less than a second must make progress: a pass with the same outcome as the previous one backs off.
func TestWorkThatAchievesNothingBacksOff(t *testing.T) {
	b, now := paced(t)
	passes := 0
	for start := *now; now.Sub(start) < time.Hour; passes++ {
		b.pauses(now, 1, func(int) error { return Wait("Emptying", 0, "3 objects removed so far") })
		*now = now.Add(5 * time.Millisecond) // duration of the pass
	}
	if passes > 40 {
		t.Errorf("%d passes in an hour", passes)
	}
	got := b.pauses(now, 3, func(n int) error { return Wait("Emptying", 0, "%d objects removed so far", 1000*(n+1)) })
	if want := []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}; !slices.Equal(got, want) {
		t.Errorf("pauses %v while it gets on, want %v", got, want)
	}
}

func TestWhatDoesNotShowIsCountedOverPasses(t *testing.T) {
	b, now := paced(t)
	tries := func(what PlannedAction) int {
		pass := &Pass{before: b.loop.Records.ineffectiveOf(b.loop.Kind, b.read())}
		return pass.IneffectiveCount(what)
	}
	putA, putB := PlannedAction{Name: "Put a"}, PlannedAction{Name: "Put b"}
	for n, row := range []struct {
		does         []PlannedAction
		outcome      error
		wantA, wantB int // afterwards
	}{
		{[]PlannedAction{putA}, Wait("Settling", time.Second, "x"), 1, 0},
		{[]PlannedAction{putA, putB}, Wait("Settling", time.Second, "x"), 2, 1},
		{nil, Wait("Throttled", time.Second, "x"), 2, 1}, // it ended before the effect was known
		{[]PlannedAction{putA, putB}, Blocked("NotKept", "x"), 3, 2},
		{[]PlannedAction{putB}, Wait("Settling", time.Second, "x"), 0, 3}, // the other is visible now
		{[]PlannedAction{putA}, Wait("Settling", time.Second, "x"), 1, 0},
		{nil, nil, 0, 0},
	} {
		b.work.unkept = row.does
		b.pauses(now, 1, func(int) error { return row.outcome })
		if a, b := tries(putA), tries(putB); a != row.wantA || b != row.wantB {
			t.Errorf("after pass %d: %d and %d tries, want %d and %d", n, a, b, row.wantA, row.wantB)
		}
	}
}
