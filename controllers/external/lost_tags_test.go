package external

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// wiped is a world whose thing has lost its tags, unless it has another owner's.
type wiped struct {
	world
	anothers, going bool
}

func (w *wiped) RestoreCommand(*v1alpha1.S3Bucket, *thing) string {
	if w.anothers {
		return ""
	}
	return "tag it"
}

func (w *wiped) Deleting(*thing) bool { return w.going }

func (w *wiped) work() Reconciler[*v1alpha1.S3Bucket, thing] {
	work := drive(&w.world, nil)
	work.Connect = func(context.Context, *v1alpha1.S3Bucket) (Connection[*v1alpha1.S3Bucket, thing], error) {
		return Connection[*v1alpha1.S3Bucket, thing]{Adapter: w}, nil
	}
	return work
}

// changed returns an object that had its resource, and whose last change is old enough to be visible.
func changed(b *v1alpha1.S3Bucket) { b.Status.LastSyncTime = &metav1.Time{Time: time.Unix(900, 0)} }

func TestLostMarksAreToldAndNotRestored(t *testing.T) {
	gone := func(p v1alpha1.DeletionPolicy) func(*v1alpha1.S3Bucket) {
		return func(b *v1alpha1.S3Bucket) {
			b.Spec.DeletionPolicy, b.DeletionTimestamp = p, &metav1.Time{Time: time.Unix(990, 0)}
		}
	}
	unmarked := world{has: &thing{Foreign, "b"}, want: "a"}
	for _, x := range []struct {
		name   string
		world  wiped
		obj    *v1alpha1.S3Bucket
		reason string
		says   []string
	}{
		{"of one that was ours", wiped{world: unmarked}, bucket(made, changed), "OwnershipTagsLost", []string{"arn:thing", "changes nothing", "restore them: tag it"}},
		{"of one that is another's now", wiped{world: unmarked, anothers: true}, bucket(made, changed), "AlreadyExists", []string{"request another name"}},
		{"of one that we never changed", wiped{world: unmarked}, bucket(made), "AlreadyExists", nil},
		{"of one that we never had", wiped{world: unmarked}, bucket(changed), "AlreadyExists", nil},
		{"of one that was changed a moment ago", wiped{world: unmarked}, bucket(made, young), "Settling", nil},
		{"at its deletion", wiped{world: unmarked}, bucket(made, changed, gone("Delete")), "OwnershipTagsLost", []string{"nothing was deleted", "Retain or Orphan", "goes on: tag it"}},
		{"when it is to be stopped", wiped{world: unmarked}, bucket(made, changed, gone("Stop")), "OwnershipTagsLost", []string{"stopped"}},
		{"while AWS is deleting it", wiped{world: unmarked, going: true}, bucket(made, changed, gone("Delete")), "Deleting", nil},
		{"at the deletion of another's", wiped{world: unmarked, anothers: true}, bucket(made, changed, gone("Delete")), "", nil},
		{"when it is retained", wiped{world: unmarked}, bucket(made, changed, gone("Retain")), "", nil},
		{"when it is orphaned", wiped{world: unmarked}, bucket(made, changed, gone("Orphan")), "", nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			act := x.world.work().Reconcile
			if x.obj.DeletionTimestamp != nil {
				act = x.world.work().Finalize
			}
			err := act(t.Context(), x.obj, engine.NewPass(nil))
			if got := reasonOf(err); got != x.reason {
				t.Fatalf("got %q (%v), want %q", got, err, x.reason)
			}
			for _, text := range x.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
			if len(x.world.writes)+x.world.deleted+x.world.freed != 0 {
				t.Errorf("written %v, deleted %d, freed %d", x.world.writes, x.world.deleted, x.world.freed)
			}
		})
	}
}
