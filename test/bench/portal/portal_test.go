package portal

import (
	"testing"
)

func TestAChangeCountsOnceForEachStream(t *testing.T) {
	w := newWatching()
	w.wrote(token(1), "a")
	w.wrote(token(2), "b")
	for range 2 {
		w.saw(1, token(1))
		w.saw(2, token(1))
	}
	w.saw(1, token(3)) // of an earlier run
	if overtaken, lost := w.unseen(); len(w.took) != 2 || overtaken != 0 || lost != 1 {
		t.Errorf("%d arrivals, %d overtaken, %d lost", len(w.took), overtaken, lost)
	}
	w.wrote(token(4), "b")
	w.wrote(token(5), "b")
	w.saw(1, token(5)) // includes the two before it
	w.wrote(token(6), "b")
	if overtaken, lost := w.unseen(); overtaken != 2 || lost != 1 {
		t.Errorf("%d overtaken, %d lost", overtaken, lost)
	}
	if got := tokens.FindString("seen as " + token(12) + "."); got != token(12) {
		t.Errorf("found %q", got)
	}
}

func TestObjectsThatChangeAreOfThoseThatListsShowFirst(t *testing.T) {
	kinds := map[string]int{}
	for i := range full.objects {
		o := newObject(team(0), i)
		kinds[o.plural]++
		if o.GetNamespace() != "team-000" || o.path() == "" {
			t.Errorf("%s in %s", o.path(), o.GetNamespace())
		}
	}
	if len(kinds) < 3 || failing+underWay > 25 {
		t.Errorf("kinds are %v", kinds)
	}
}
