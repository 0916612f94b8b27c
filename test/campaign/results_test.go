package campaign

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// printed returns the printed results, with single spaces.
func printed(r *Results) string {
	var b strings.Builder
	r.Print(&b)
	return regexp.MustCompile(" +").ReplaceAllString(b.String(), " ")
}

func TestATableTellsGoalsMissed(t *testing.T) {
	all := &Results{Title: "title"}
	all.Goal("time", 4, 2, " s", "")
	all.Goal("memory", 150, 300, " MB", "of all")
	all.Goal("LISTs", 0, 0, "", "")
	all.Goal("more LISTs", 0.5, 0, "", "")
	all.Figure("calls", "2", "of all")
	got := printed(all)
	for _, want := range []string{
		"title\n", "| What | Measured | Goal | |\n| --- | --- | --- | --- |\n",
		"| time | 4 s | 2 s: **missed**, 2.00 of it | |\n", "| memory | 150 MB | 300 MB: holds, 0.50 of it | of all |",
		"| LISTs | 0 | 0: holds |", "| more LISTs | 0.5 | 0: **missed** |", "| calls | 2 | | of all |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestATableTellsTimes(t *testing.T) {
	all := &Results{}
	all.Times("list", []time.Duration{time.Second, 2 * time.Second}, time.Second, "")
	all.Times("page", []time.Duration{time.Second, 2 * time.Second}, 0, "a note")
	got := printed(all)
	for _, want := range []string{
		"| list, p95 | 2000 ms | 1000 ms: **missed**, 2.00 of it | p50 1e+03 ms, p99 2e+03 ms, 2 in all |",
		"| page, p95 | 2e+03 ms | | p50 1e+03 ms, p99 2e+03 ms, 2 in all; a note |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

func TestTablesHaveTheirOwnColumns(t *testing.T) {
	all := &Results{Head: []string{"Page", "Score"}}
	all.Row("list", "0.99")
	if got := printed(all); !strings.Contains(got, "| Page | Score |\n| --- | --- |\n| list | 0.99 |\n") {
		t.Errorf("got:\n%s", got)
	}
}
