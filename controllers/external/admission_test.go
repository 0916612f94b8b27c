package external

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// linked is a world whose steps have references.
type linked struct{ world }

func (l *linked) Plan(obj *v1alpha1.S3Bucket, seen *thing) ([]Action, error) {
	actions, err := l.world.Plan(obj, seen)
	for n := range actions {
		actions[n].References = []Reference{{Kind: "key", Name: "theirs"}}
	}
	if seen != nil && seen.setting == "b" {
		actions = append(actions, Action{Name: "Other", Why: "x", Do: func(context.Context) error {
			l.writes = append(l.writes, "Other")
			return nil
		}})
	}
	return actions, err
}

// A step with a reference that the namespace cannot use is skipped. The resource stays, and the other steps are
// executed.
func TestWhatIsNotAdmittedIsNotDone(t *testing.T) {
	refused := engine.Blocked("ReferenceNotAllowed", "the key is theirs")
	for name, row := range map[string]struct {
		has    *thing
		obj    *v1alpha1.S3Bucket
		writes []string
	}{
		"creation": {nil, bucket(), nil},
		"an edit":  {&thing{Ours, "b"}, bucket(made), []string{"Other"}},
	} {
		w := &linked{world{has: row.has, want: "a"}}
		work := drive(&w.world, nil)
		work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{
				Adapter: w, Admit: func(_ context.Context, _ *v1alpha1.S3Bucket, refs []Reference) error {
					if !slices.Equal(refs, []Reference{{"key", "theirs"}}) {
						t.Errorf("asked about %v", refs)
					}
					return refused
				},
			}, nil
		}
		err := work.Reconcile(t.Context(), row.obj, engine.NewPass(nil))
		if !errors.Is(err, refused) || !slices.Equal(w.writes, row.writes) {
			t.Errorf("%s: %v, wrote %v", name, err, w.writes)
		}
		if s := row.obj.Status; row.has == nil && (s.LastSyncTime != nil || s.AccountID != "") {
			t.Errorf("%s: LastSyncTime = %v, AccountID = %q, want none", name, s.LastSyncTime, s.AccountID)
		}
	}
}

// An objection prevents a creation, and keeps the resource from being in sync; an existing one is still reconciled.
func TestAnObjectionIsTold(t *testing.T) {
	objection := engine.Blocked("TagForbidden", "a tag is not theirs to set")
	for name, row := range map[string]struct {
		has    *thing
		obj    *v1alpha1.S3Bucket
		err    bool
		writes []string
	}{
		"nothing is made":   {nil, bucket(), true, nil},
		"drift is mended":   {&thing{Ours, "b"}, bucket(made), true, []string{"Put"}},
		"it is not in sync": {&thing{Ours, "a"}, bucket(made), true, nil},
		"nor if observed":   {&thing{Ours, "a"}, bucket(observing), false, nil},
	} {
		w := &world{has: row.has, want: "a"}
		work := drive(w, nil)
		work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w, Objection: objection}, nil
		}
		err := work.Reconcile(engine.WithRoutine(t.Context(), true), row.obj, engine.NewPass(nil))
		if errors.Is(err, objection) != row.err || !slices.Equal(w.writes, row.writes) {
			t.Errorf("%s: error = %v, want the objection: %v; wrote %v, want %v", name, err, row.err, w.writes,
				row.writes)
		}
		if row.has != nil && row.obj.Status.ARN == "" {
			t.Errorf("%s: ARN is empty", name)
		}
	}
}

// Paths of an objection are not written, and an offered resource is not adopted.
func TestWhatIsObjectedToIsNotWritten(t *testing.T) {
	objection := engine.Blocked("NotAllowed", "that is too large")
	offered := func(b *v1alpha1.S3Bucket) { b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt }
	for name, row := range map[string]struct {
		has      *thing
		obj      *v1alpha1.S3Bucket
		declared []string
		writes   []string
	}{
		"what it is about":           {&thing{Ours, "b"}, bucket(made), []string{"size"}, nil},
		"a part of what it is about": {&thing{Ours, "b"}, bucket(made), []string{"size.most"}, nil},
		"another path":               {&thing{Ours, "b"}, bucket(made), []string{"sizes"}, []string{"Put"}},
		"what is offered":            {&thing{Offered, "b"}, bucket(offered), []string{"sizes"}, nil},
		"what was ours":              {&thing{Earlier, "b"}, bucket(), []string{"sizes"}, []string{"Put"}},
	} {
		w := &world{has: row.has, want: "a", declared: row.declared}
		work := drive(w, nil)
		work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w, Objection: objection, Withheld: []string{"size"}},
				nil
		}
		err := work.Reconcile(t.Context(), row.obj, engine.NewPass(func(context.Context) error { return nil }))
		if !errors.Is(err, objection) || !slices.Equal(w.writes, row.writes) {
			t.Errorf("%s: %v, wrote %v", name, err, w.writes)
		}
	}
}
