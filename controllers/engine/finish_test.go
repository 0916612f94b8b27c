package engine

import (
	"slices"
	"testing"
)

// The status of an object that is Ready after its first pass has all information; events are sent if a second pass is
// needed.
func TestWhatIsReadyAfterItsFirstPassSendsNoEvents(t *testing.T) {
	b := newBench(t, nil)
	b.work.made = "bucket b"
	b.pass(nil)
	if told := b.told(); len(told) != 0 {
		t.Errorf("events %q", told)
	}
	b.pass(nil)
	if told := b.told(); !slices.Equal(told, []string{"Normal Created bucket b"}) {
		t.Errorf("events of a later pass %q", told)
	}

	b = newBench(t, nil)
	b.work.made, b.work.note = "bucket b", "versioning"
	b.pass(nil)
	if told := b.told(); !slices.Equal(told, []string{"Warning Repaired versioning"}) {
		t.Errorf("events with a warning %q", told)
	}

	b = newBench(t, nil)
	b.work.made = "bucket b"
	b.pass(Wait("Creating", 0, "soon"))
	b.work.made = ""
	b.pass(nil)
	if told := b.told(); !slices.Equal(
		told, []string{
			"Normal Created bucket b", "Normal Creating soon",
			"Normal InSync everything is as the spec asks",
		}) {
		t.Errorf("events of two passes %q", told)
	}
}
