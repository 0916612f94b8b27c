package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestATableTellsBudgetsMissed(t *testing.T) {
	var b strings.Builder
	all := &table{machine: "machine", size: small}
	all.budget("memory", 150, 300, " MB", "")
	all.budget("LISTs", 0, 0, "", "")
	all.budget("more LISTs", 0.5, 0, "", "")
	all.times("list", []time.Duration{time.Second, 2 * time.Second}, time.Second, "")
	all.print(&b)
	for _, want := range []string{
		"| memory | 150 MB | 300 MB: holds, 0.50 of it |", "| LISTs | 0 | 0: holds |",
		"| more LISTs | 0.5 | 0: **missed** |",
		"| list, p95 | 2e+03 ms | 1000 ms: **missed** | p50 1e+03 ms, p99 2e+03 ms, 2 in all |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}

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

func TestCookiesThatAreClearedAreNotSent(t *testing.T) {
	a := answer{header: http.Header{"Set-Cookie": {"a=1; Path=/", "b=; Max-Age=0", "c=3"}}}
	if got := cookies(a); got != "a=1; c=3" {
		t.Errorf("%q", got)
	}
}
