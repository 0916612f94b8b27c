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

// thing is an external resource with an owner and one setting.
type thing struct {
	owner   Owner
	setting string
}

// world is an adapter over at most one thing.
type world struct {
	version        int64 // of the provider
	has            *thing
	observe        error
	deaf           bool // writes are accepted and have no effect
	declared       []string
	want           string
	writes         []string
	deleted, freed int
	keepOnDelete   bool
	denies         bool     // AWS responds to the deletion with "not found"
	ended          bool     // the termination is visible
	reserved       []string // settings reserved before an adoption
}

func (w *world) Observe(context.Context, *v1alpha1.S3Bucket) (*thing, error) {
	if w.has == nil {
		return nil, w.observe
	}
	seen := *w.has
	return &seen, w.observe
}
func (w *world) Owner(_ *v1alpha1.S3Bucket, seen *thing) Owner { return seen.owner }
func (w *world) Declared(*v1alpha1.S3Bucket) []string          { return w.declared }
func (w *world) Plan(_ *v1alpha1.S3Bucket, seen *thing) ([]Action, error) {
	act := func(name string, t thing) []Action {
		return []Action{{
			Name: name, Why: "setting → " + t.setting, Changes: w.sets(seen),
			Do: func(context.Context) error {
				w.writes = append(w.writes, name)
				if !w.deaf {
					w.has = &t
				}
				return nil
			},
		}}
	}
	switch {
	case seen == nil:
		return act("Create", thing{Ours, w.want}), nil
	case seen.owner != Ours || seen.setting != w.want:
		return act("Put", thing{Ours, w.want}), nil
	}
	return nil, nil
}

func (w *world) sets(seen *thing) []Change {
	changes := InitialChanges(w.declared)
	for i := range changes {
		if seen != nil {
			changes[i].From = seen.setting
		}
	}
	return changes
}

func (w *world) Report(obj *v1alpha1.S3Bucket, _ *thing) map[string]string {
	obj.Status.ARN = "arn:thing"
	return map[string]string{"type": "thing"}
}

func (w *world) Reserve(obj *v1alpha1.S3Bucket, seen *thing) {
	if obj.Status.AccountID = "1"; seen != nil {
		w.reserved = append(w.reserved, seen.setting)
	}
}

func (w *world) Delete(context.Context, *v1alpha1.S3Bucket, *thing) (bool, error) {
	w.deleted++
	if !w.keepOnDelete {
		w.has = nil
	}
	return !w.keepOnDelete && !w.denies, nil
}
func (w *world) Terminated() bool { return w.ended }
func (w *world) Stop(context.Context, *v1alpha1.S3Bucket, *thing) (bool, error) {
	return true, nil
}
func (w *world) Disown(context.Context, *v1alpha1.S3Bucket, *thing) error { w.freed++; return nil }

func drive(w *world, connect error) Reconciler[*v1alpha1.S3Bucket, thing] {
	return Reconciler[*v1alpha1.S3Bucket, thing]{
		Kind: "Thing", Stateful: true, Settling: time.Minute, Now: func() time.Time { return time.Unix(1000, 0) },
		Connect: func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
			return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w, Version: w.version}, connect
		},
	}
}

func bucket(change ...func(*v1alpha1.S3Bucket)) *v1alpha1.S3Bucket {
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", Generation: 1}}
	for _, c := range change {
		c(b)
	}
	return b
}

func made(b *v1alpha1.S3Bucket) {
	b.Status.ARN, b.Status.AccountID, b.Status.Ready, b.Status.ObservedGeneration = "arn:thing", "1", true, 1
}

func reasonOf(err error) string {
	if wait, ok := engine.AsWait(err); ok {
		return wait.Reason
	}
	if err != nil {
		return "error"
	}
	return ""
}

func TestSync(t *testing.T) {
	for _, x := range []struct {
		name   string
		world  world
		obj    *v1alpha1.S3Bucket
		reason string   // "" is in sync
		writes []string // what was called
		notes  string
	}{
		{"creates what is not there", world{want: "a"}, bucket(), "", []string{"Create"}, "Created"},
		{"leaves what is right", world{has: &thing{Ours, "a"}, want: "a"}, bucket(made), "", nil, ""},
		{"repairs drift and tells it", world{has: &thing{Ours, "b"}, want: "a"}, bucket(made), "", []string{"Put"}, "Repaired: setting → a; it was changed outside"},
		{"applies an edit", world{has: &thing{Ours, "b"}, want: "a"}, bucket(made, func(b *v1alpha1.S3Bucket) { b.Generation = 2 }), "", []string{"Put"}, "Updated"},
		{"takes back an earlier life's", world{has: &thing{Earlier, "a"}, want: "a"}, bucket(), "", []string{"Put"}, "Updated"},
		{"never touches a foreign one", world{has: &thing{Foreign, "b"}, want: "a"}, bucket(adopting), "AlreadyExists", nil, ""},
		{"refuses an offer that is not wanted", world{has: &thing{Offered, "b"}, want: "a"}, bucket(), "AlreadyExists", nil, ""},
		{"takes an offer that is wanted", world{has: &thing{Offered, "b"}, want: "a"}, bucket(adopting), "", []string{"Put"}, "Updated"},
		{"does not take an error for absence", world{observe: errors.New("reset"), want: "a"}, bucket(), "error", nil, ""},
		{"does not recreate what was lost", world{want: "a"}, bucket(made), "ExternallyDeleted", nil, ""},
		{"waits for what was created and does not show", world{want: "a", deaf: true}, bucket(), "Creating", []string{"Create"}, "Created"},
		{"waits for what does not show", world{has: &thing{Ours, "b"}, want: "a", deaf: true}, bucket(made), "Settling", []string{"Put"}, ""},
		{"does not take a late picture for a loss", world{want: "a"}, bucket(made, young), "Settling", nil, ""},
		{"knows the end of a young one", world{want: "a", ended: true}, bucket(made, young), "ExternallyDeleted", nil, ""},
		{"does not take late marks for a foreign one", world{has: &thing{Foreign, "a"}, want: "a"}, bucket(young), "Settling", nil, ""},
		{"observes a difference", world{has: &thing{Offered, "b"}, want: "a"}, bucket(observing), "Differs", nil, ""},
		{"does not observe another's", world{has: &thing{Foreign, "a"}, want: "a"}, bucket(observing), "NotFound", nil, ""},
		{"observes", world{has: &thing{Ours, "a"}, want: "a"}, bucket(observing), "", nil, ""},
		{"observes absence", world{want: "a"}, bucket(observing), "NotFound", nil, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			notes := engine.NewPass(nil)
			err := drive(&x.world, nil).Reconcile(t.Context(), x.obj, notes)
			if got := reasonOf(err); got != x.reason {
				t.Errorf("got %q (%v), want %q", got, err, x.reason)
			}
			if !slices.Equal(x.world.writes, x.writes) {
				t.Errorf("writes %v, want %v", x.world.writes, x.writes)
			}
			if told := strings.Join(notes.Strings(), "\n"); !strings.Contains(told, x.notes) {
				t.Errorf("notes %q, want %q", told, x.notes)
			}
			if (x.obj.Status.LastSyncTime != nil) != (len(x.writes) > 0) && x.reason == "" &&
				x.obj.Spec.ManagementPolicy == "" {
				t.Errorf("lastSyncTime %v after %v", x.obj.Status.LastSyncTime, x.writes)
			}
		})
	}
}

// young returns an object that was changed a moment ago.
func young(b *v1alpha1.S3Bucket) { b.Status.LastSyncTime = &metav1.Time{Time: time.Unix(990, 0)} }

func adopting(b *v1alpha1.S3Bucket)  { b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt }
func observing(b *v1alpha1.S3Bucket) { b.Spec.ManagementPolicy = v1alpha1.ManagementObserve }

var errSave = errors.New("the status was not saved")

// What must be saved first, and for which actions. Nothing is done if the save fails.
func TestWhatIsSavedBeforeItIsDone(t *testing.T) {
	acknowledged := bucket(made)
	acknowledged.Annotations = map[string]string{v1alpha1.AnnotationAcknowledgeRecreate: "1"}
	for _, x := range []struct {
		name  string
		world world
		obj   *v1alpha1.S3Bucket
		saved bool
		check func(*v1alpha1.S3Bucket) bool
	}{
		{"where it is created", world{want: "a"}, bucket(), true, func(b *v1alpha1.S3Bucket) bool {
			return b.Status.AccountID == "1" && b.Status.LastSyncTime != nil && b.Status.ARN == ""
		}},
		{
			"that its re-creation was acknowledged",
			world{want: "a"},
			acknowledged, true,
			func(b *v1alpha1.S3Bucket) bool {
				return b.Status.Recreations == 1 && b.Status.ARN == ""
			},
		},
		{"that it is still wanted, before an earlier one's is taken", world{has: &thing{Earlier, "a"}, want: "a"}, bucket(), true, nil},
		{"and an offered one", world{has: &thing{Offered, "a"}, want: "a"}, bucket(adopting), true, nil},
		{
			"a field that is written for the first time",
			world{has: &thing{Ours, "b"}, want: "a", declared: []string{"setting"}},
			bucket(made), true,
			func(b *v1alpha1.S3Bucket) bool {
				return len(b.Status.ManagedFields) == 0 && b.Status.PendingFields["setting"] == digest("b")
			},
		},
		{"nothing for a repair", world{has: &thing{Ours, "b"}, want: "a"}, bucket(made), false, nil},
		{"nothing at rest", world{has: &thing{Ours, "a"}, want: "a"}, bucket(made), false, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			failing, saves := x.world, 0
			err := drive(&failing, nil).Reconcile(t.Context(), x.obj.DeepCopy(),
				engine.NewPass(func(context.Context) error { return errSave }))
			if x.saved && (!errors.Is(err, errSave) || len(failing.writes) != 0) {
				t.Errorf("acted without saving: %v, %v", failing.writes, err)
			}
			err = drive(&x.world, nil).Reconcile(t.Context(), x.obj, engine.NewPass(func(context.Context) error {
				if saves++; x.check != nil && !x.check(x.obj) {
					t.Errorf("saved %+v", x.obj.Status)
				}
				return nil
			}))
			if err != nil || (saves == 1) != x.saved {
				t.Errorf("%d saves, %v", saves, err)
			}
		})
	}
}

func TestFieldsThatAreDeclaredNoMoreLeaveTheList(t *testing.T) {
	w := &world{has: &thing{Ours, "a"}, want: "a"}
	b := bucket(made)
	b.Status.ManagedFields = []string{"setting"}
	if err := drive(w, nil).Reconcile(t.Context(), b, engine.NewPass(nil)); err != nil ||
		len(b.Status.ManagedFields) != 0 {
		t.Errorf("managed fields %v, %v", b.Status.ManagedFields, err)
	}
}

func TestRelease(t *testing.T) {
	policy := func(p v1alpha1.DeletionPolicy) *v1alpha1.S3Bucket {
		return bucket(made, func(b *v1alpha1.S3Bucket) {
			b.Spec.DeletionPolicy, b.DeletionTimestamp = p, &metav1.Time{Time: time.Unix(990, 0)}
		})
	}
	broken := engine.Blocked("ProviderNotFound", "there is no provider")
	never, late, old := policy("Delete"), policy("Delete"), policy("Orphan")
	never.Status = v1alpha1.S3BucketStatus{}
	young(late)
	late.Status.ARN = ""
	youngOne := func(p v1alpha1.DeletionPolicy) *v1alpha1.S3Bucket {
		b := policy(p)
		young(b)
		return b
	}
	old.DeletionTimestamp = &metav1.Time{Time: time.Unix(900, 0)}
	for _, x := range []struct {
		name           string
		world          world
		obj            *v1alpha1.S3Bucket
		connect        error
		reason         string
		deleted, freed int
		notes          string
	}{
		{"deletes ours", world{has: &thing{Ours, "a"}}, policy("Delete"), nil, "", 1, 0, ""},
		{"nothing is left", world{}, policy("Delete"), nil, "", 0, 0, ""},
		{"waits until it is gone", world{has: &thing{Ours, "a"}, keepOnDelete: true}, policy("Delete"), nil, "Deleting", 2, 0, ""},
		{"leaves a foreign one", world{has: &thing{Foreign, "a"}}, policy("Delete"), nil, "", 0, 0, "NotOurs"},
		{"leaves an earlier life's", world{has: &thing{Earlier, "a"}}, policy("Delete"), nil, "", 0, 0, "NotOurs"},
		{"waits for the marks of one that was taken back a moment ago", world{has: &thing{Earlier, "a"}}, youngOne("Delete"), nil, "Settling", 0, 0, ""},
		{"and of one that was adopted a moment ago", world{has: &thing{Offered, "a"}}, youngOne("Delete"), nil, "Settling", 0, 0, ""},
		{"stops none that was taken back a moment ago before it shows", world{has: &thing{Earlier, "a"}}, youngOne("Stop"), nil, "Settling", 0, 0, ""},
		{"nor lets go of it", world{has: &thing{Earlier, "a"}}, youngOne("Orphan"), nil, "Settling", 0, 0, ""},
		{"nor of a young one that does not show", world{}, youngOne("Orphan"), nil, "Settling", 0, 0, ""},
		{"is not waited for if nothing was ever made", world{has: &thing{Foreign, "a"}}, never, broken, "", 0, 0, ""},
		{"does not take a late picture for absence", world{}, late, nil, "Settling", 0, 0, ""},
		{"nor one that was seen once", world{}, youngOne("Delete"), nil, "Settling", 0, 0, ""},
		{"lets go of what was seen and is old", world{}, policy("Delete"), nil, "", 0, 0, ""},
		{"and of a young one whose end shows", world{ended: true}, youngOne("Delete"), nil, "", 0, 0, ""},
		{"deletes a young one, which AWS confirms", world{has: &thing{Ours, "a"}}, youngOne("Delete"), nil, "", 1, 0, ""},
		{"not found is no confirmation", world{has: &thing{Ours, "a"}, denies: true}, youngOne("Delete"), nil, "Settling", 1, 0, ""},
		{"nor of one that is old, but was told to end just now", world{has: &thing{Ours, "a"}, denies: true}, policy("Delete"), nil, "Settling", 1, 0, ""},
		{"the end of one that was told to shows", world{has: &thing{Ours, "a"}, denies: true, ended: true}, policy("Delete"), nil, "", 1, 0, ""},
		{"waits for the marks of a young one", world{has: &thing{Foreign, "a"}}, youngOne("Delete"), nil, "Settling", 0, 0, ""},
		{"stops no young one that does not show", world{}, youngOne("Stop"), nil, "Settling", 0, 0, ""},
		{"nor one without marks", world{has: &thing{Foreign, "a"}}, youngOne("Stop"), nil, "Settling", 0, 0, ""},
		{"nothing is left to stop", world{}, policy("Stop"), nil, "", 0, 0, "nothing was stopped"},
		{"stops ours", world{has: &thing{Ours, "a"}}, youngOne("Stop"), nil, "", 0, 0, "Stopped"},
		{"an error is not absence", world{observe: errors.New("reset")}, policy("Delete"), nil, "error", 0, 0, ""},
		{"waits for its provider", world{has: &thing{Ours, "a"}}, policy("Delete"), broken, "ProviderNotFound", 0, 0, ""},
		{"retains", world{has: &thing{Ours, "a"}}, policy("Retain"), nil, "", 0, 0, "Retained"},
		{"retains without a provider", world{has: &thing{Ours, "a"}}, policy("Retain"), broken, "", 0, 0, "Retained"},
		{"retains a young one", world{has: &thing{Ours, "a"}}, youngOne("Retain"), nil, "", 0, 0, "Retained"},
		{"orphans", world{has: &thing{Ours, "a"}}, policy("Orphan"), nil, "", 0, 1, "Orphaned"},
		{"orphans nothing foreign", world{has: &thing{Foreign, "a"}}, policy("Orphan"), nil, "", 0, 0, ""},
		{"orphans without a provider", world{has: &thing{Ours, "a"}}, policy("Orphan"), broken, "", 0, 0, "TagsLeft"},
		{"tries to orphan again", world{observe: errors.New("reset")}, policy("Orphan"), nil, "error", 0, 0, ""},
		{"gives up on a dead account", world{observe: errors.New("reset")}, old, nil, "", 0, 0, "TagsLeft"},
		{"only observed", world{has: &thing{Ours, "a"}}, bucket(observing), nil, "", 0, 0, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			notes := engine.NewPass(nil)
			err := drive(&x.world, x.connect).Finalize(t.Context(), x.obj, notes)
			if got := reasonOf(err); got != x.reason {
				t.Errorf("got %q (%v), want %q", got, err, x.reason)
			}
			if x.world.deleted != x.deleted || x.world.freed != x.freed {
				t.Errorf("deleted %d, disowned %d times", x.world.deleted, x.world.freed)
			}
			if told := strings.Join(notes.Strings(), "\n"); !strings.Contains(told, x.notes) {
				t.Errorf("notes %q, want %q", told, x.notes)
			}
		})
	}
}
