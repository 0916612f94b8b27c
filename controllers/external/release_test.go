package external

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// leaving is a world whose responses to deletions are lost, or that shows for a while that it is deleting.
type leaving struct {
	world
	answer error
	slow   bool
}

func (l *leaving) Delete(context.Context, *v1alpha1.S3Bucket, *thing) (bool, error) {
	l.deleted++
	if !l.slow {
		l.has = nil
	}
	return false, l.answer
}

func (l *leaving) Deleting(*thing) bool { return l.slow && l.deleted > 1 }

// release runs one pass of a deletion, the given seconds after the clock's start.
func (l *leaving) release(t *testing.T, b *v1alpha1.S3Bucket, seconds int64) string {
	t.Helper()
	work := drive(&l.world, nil)
	work.Now = func() time.Time { return time.Unix(1000+seconds, 0) }
	work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
		return Connection[*v1alpha1.S3Bucket, thing]{Adapter: l}, nil
	}
	return reasonOf(work.Finalize(t.Context(), b, engine.NewPass(nil)))
}

// A deletion whose response was lost, or that AWS accepted without confirming the end, starts the time in which absence
// proves nothing.
func TestADeletionBeginsTheSettlingTimeAnew(t *testing.T) {
	for name, answer := range map[string]error{"Settling": nil, "error": errors.New("no answer")} {
		l, b := &leaving{world: world{has: &thing{Ours, "a"}}, answer: answer}, bucket(made)
		b.Spec.DeletionPolicy = v1alpha1.DeletionDelete
		if got := l.release(t, b, 0); got != name {
			t.Errorf("%s: got %q", name, got)
		}
		if got := l.release(t, b, 60); got != "Settling" { // requested up to a second after what its status says
			t.Errorf("%s: %q, though it may be there", name, got)
		}
		if got := l.release(t, b, 61); got != "" {
			t.Errorf("%s: got %q in the end", name, got)
		}
	}
}

// The clock of the status's writer, or ours, was hours ahead and was corrected: something that may not be visible yet
// is waited for from now on, once, and not until the clock has caught up.
func TestATimeThatLiesAheadIsNotWaitedFor(t *testing.T) {
	ahead := func(b *v1alpha1.S3Bucket) { b.Status.LastSyncTime = &metav1.Time{Time: time.Unix(1000+3*3600, 0)} }
	l, b := &leaving{}, bucket(made, ahead)
	b.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	if got := l.release(t, b, 0); got != "Settling" || b.Status.LastSyncTime.Unix() != 1000 {
		t.Errorf("%q, last sync %v", got, b.Status.LastSyncTime)
	}
	if got := l.release(t, b, 61); got != "" {
		t.Errorf("a deletion waits on: %q", got)
	}
	b = bucket(made, ahead)
	for seconds, want := range []string{0: "Settling", 61: "ExternallyDeleted"} {
		if want == "" {
			continue
		}
		work := drive(&world{want: "a"}, nil)
		work.Now = func() time.Time { return time.Unix(1000+int64(seconds), 0) }
		if got := reasonOf(work.Reconcile(t.Context(), b, engine.NewPass(nil))); got != want {
			t.Errorf("after %d s: %q, want %q", seconds, got, want)
		}
	}
}

// A refusal does not start the settling time, and neither does another observation of a running deletion.
func TestTheSettlingTimeBeginsOnce(t *testing.T) {
	l, b := &leaving{world: world{has: &thing{Ours, "a"}}, answer: engine.Blocked("AccessDenied", "no"), slow: true},
		bucket(made)
	b.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	if got := l.release(t, b, 0); got != "AccessDenied" || b.Status.LastSyncTime != nil {
		t.Errorf("%q, last sync %v", got, b.Status.LastSyncTime)
	}
	l.answer, l.deleted = nil, 0
	for _, seconds := range []int64{0, 5, 10} {
		if got := l.release(t, b, seconds); got != "Deleting" || b.Status.LastSyncTime.Unix() != 1000 {
			t.Errorf("after %d s: %q, last sync %v", seconds, got, b.Status.LastSyncTime)
		}
	}
}

// TestWhatIsFoundByTagsStaysOnceTheyShow releases a resource that the next object of the name would create again if it
// did not find it.
func TestWhatIsFoundByTagsStaysOnceTheyShow(t *testing.T) {
	for _, policy := range []v1alpha1.DeletionPolicy{v1alpha1.DeletionRetain, v1alpha1.DeletionStop} {
		obj := bucket(made, young)
		obj.Status.AccountID, obj.Spec.DeletionPolicy, obj.DeletionTimestamp = "1", policy,
			&metav1.Time{Time: time.Unix(990, 0)}
		work := drive(&world{has: &thing{Ours, "a"}}, nil)
		work.FoundByTags = true
		if err := work.Finalize(t.Context(), obj, engine.NewPass(nil)); reasonOf(err) != v1alpha1.ReasonSettling ||
			!strings.Contains(err.Error(), "the next request of this name finds it") {
			t.Errorf("%s of a young one: %v", policy, err)
		}
		changed(obj)
		obj.Status.LastSyncTime.Time = obj.Status.LastSyncTime.Add(-time.Minute)
		if err := work.Finalize(t.Context(), obj, engine.NewPass(nil)); err != nil {
			t.Errorf("%s of an old one: %v", policy, err)
		}
	}
}

// TestWhatIsTakenOverIsReserved adopts what an earlier object left: its place was saved before it was tagged.
func TestWhatIsTakenOverIsReserved(t *testing.T) {
	w := &world{has: &thing{Earlier, "a"}, want: "a"}
	var saved []string
	pass := engine.NewPass(func(context.Context) error {
		saved = append(saved, strings.Join(w.reserved, " ")+"; "+strings.Join(w.writes, " "))
		return nil
	})
	if err := drive(w, nil).Reconcile(t.Context(), bucket(), pass); err != nil {
		t.Error(err)
	}
	if !slices.Equal(saved, []string{"a; "}) || len(w.writes) != 1 {
		t.Errorf("saved %q, want the reserved name before any write; writes %v, want one", saved, w.writes)
	}
}
