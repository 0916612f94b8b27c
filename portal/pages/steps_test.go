package pages

import (
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/phase"
)

func TestStepsSayWhichFinalizerWaits(t *testing.T) {
	f := busySite(t)
	obj := f.objects[3] // import-tmp, being deleted
	r := resourceOf(space{}, f.kinds.Requestable()[0], obj, noon)
	var all []string
	for _, s := range stepsOf(phase.FactsOf(obj), obj, f.kinds.Requestable()[0], r, noon) {
		all = append(all, s.Title+": "+s.State)
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{"Requested: done", "Portico releases what it made: in progress", "Waiting for example.org/backup: in progress"} {
		if !strings.Contains(got, want) {
			t.Errorf("the steps lack %q:\n%s", want, got)
		}
	}
}
