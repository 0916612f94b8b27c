package external

import (
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/controllers/engine"
)

// A resource without content is created again at once, reported as such, and treated like a new one.
func TestAStatelessResourceIsMadeAgain(t *testing.T) {
	w := &world{want: "a"}
	work := drive(w, nil)
	work.Stateful = false
	b, notes := bucket(made), engine.NewPass(nil)
	if err := work.Reconcile(t.Context(), b, notes); err != nil {
		t.Fatal(err)
	}
	if told := strings.Join(notes.Strings(), ""); !strings.Contains(told, "Recreated") ||
		!slices.Equal(w.writes, []string{"Create"}) {
		t.Errorf("told %q after %v", told, w.writes)
	}
	w = &world{want: "a", deaf: true}
	work = drive(w, nil)
	work.Stateful = false
	b = bucket(made)
	if err := work.Reconcile(t.Context(), b, engine.NewPass(nil)); reasonOf(err) != "Creating" || b.Status.ARN != "" {
		t.Errorf("%v; the ARN %q of the one that is gone would let a deletion go at once", err, b.Status.ARN)
	}
}
