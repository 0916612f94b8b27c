package external

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// pausing is a world in which "Grow" is postponed, and "Put" is planned after it.
type pausing struct {
	world
	planned error // what Plan itself postpones
	grows   int
	is      string
}

func (p *pausing) Plan(*v1alpha1.S3Bucket, *thing) ([]Action, error) {
	var actions []Action
	if p.planned == nil {
		actions = append(actions,
			Action{
				Name: "Grow", Why: "size 1 → 2", Changes: []Change{{Path: "size", From: "1", To: "2"}},
				Do: func(context.Context) error {
					p.grows++
					return Postponed(engine.Wait("Resting", time.Minute, "it works; size waits"))
				},
			})
	}
	if p.is != "b" {
		actions = append(actions,
			Action{
				Name: "Put", Why: "setting a → b", Changes: []Change{{Path: "setting", From: "a", To: "b"}},
				Do: func(context.Context) error {
					p.is = "b"
					return nil
				},
			})
	}
	return actions, p.planned
}

func TestWhatIsPostponedHoldsNothingElseUp(t *testing.T) {
	for name, row := range map[string]struct {
		planned error
		grows   int
		pending []string
	}{
		"by an answer of AWS's": {nil, 1, []string{"size"}},
		"by what is seen":       {Postponed(engine.Wait("Resting", time.Minute, "it works; size waits")), 0, nil},
	} {
		w := &pausing{world: world{has: &thing{Ours, "a"}, declared: []string{"setting", "size"}}, planned: row.planned}
		work := drive(&w.world, nil)
		work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w}, nil
		}
		published := 0
		work.Publish = func(context.Context, *v1alpha1.S3Bucket, map[string]string) (*v1alpha1.Binding, error) {
			published++
			return &v1alpha1.Binding{Name: "details"}, nil
		}
		b := bucket(made)
		err := work.Reconcile(t.Context(), b, engine.NewPass(func(context.Context) error { return nil }))
		if reasonOf(err) != "Resting" || published != 1 || b.Status.Binding == nil {
			t.Errorf("%s: reason = %s, published %d times, binding %v, want Resting, 1, one", name, reasonOf(err),
				published, b.Status.Binding)
		}
		if w.is != "b" || w.grows != row.grows {
			t.Errorf("%s: setting = %q, tried %d times, want b, %d", name, w.is, w.grows, row.grows)
		}
		if got := slices.Sorted(maps.Keys(b.Status.PendingFields)); !slices.Equal(got, row.pending) ||
			!slices.Equal(b.Status.ManagedFields, []string{"setting"}) {
			t.Errorf("%s: managed %v, pending %v", name, b.Status.ManagedFields, b.Status.PendingFields)
		}
		if state := b.Status.PendingFields["size"]; row.grows > 0 && state != pendingUnwritten {
			t.Errorf("%s: size is noted as %s", name, state)
		}
	}
}
