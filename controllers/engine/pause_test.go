package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// giver is a KindReconciler that gives rights.
type giver struct {
	worked, withdrew *int
	err              error
}

func (g giver) Reconcile(context.Context, *v1alpha1.S3Bucket, *Pass) error { *g.worked++; return nil }

func (g giver) Finalize(context.Context, *v1alpha1.S3Bucket, *Pass) error { return nil }

func (g giver) Withdraw(_ context.Context, obj *v1alpha1.S3Bucket, pass *Pass) error {
	*g.withdrew++
	obj.Status.AccountID = ""
	pass.Normal("Removed", "TakeRightsAway", "the rights")
	return g.err
}

// A pause stops all work, except the removal of rights that are no longer allowed; if that waits or fails, it is
// retried.
func TestAPauseTakesAwayWhatIsNotAllowed(t *testing.T) {
	boom := errors.New("boom")
	for name, row := range map[string]struct {
		err   error
		again time.Duration
		fails bool
	}{
		"done": {nil, 0, false}, "it waits": {Wait("Settling", time.Minute, "in a moment"), time.Minute, false},
		"it fails": {boom, 0, true},
	} {
		worked, withdrew := 0, 0
		b := newBench(t, func(obj *v1alpha1.S3Bucket) {
			obj.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
			obj.Status.AccountID = "111111111111"
		})
		b.loop.KindReconciler = giver{&worked, &withdrew, row.err}
		result, err := b.loop.Reconcile(t.Context(), b.read())
		if worked > 0 || withdrew != 1 {
			t.Errorf("%s: worked %d times, withdrew %d times, want 0, 1", name, worked, withdrew)
		}
		if (err != nil) != row.fails || result.RequeueAfter != row.again {
			t.Errorf("%s: RequeueAfter = %s, %v, want %s, an error: %v", name, result.RequeueAfter, err, row.again,
				row.fails)
		}
		if got := b.read(); got.Status.AccountID != "" {
			t.Errorf("%s: the status keeps what was taken away", name)
		}
	}
}
