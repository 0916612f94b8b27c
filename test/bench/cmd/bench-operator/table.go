package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/portico-platform/portico/test/bench/fakeaws"
)

// table is the result of one scenario.
type table struct{ rows [][4]string }

// row adds a figure without a goal, with an explanation.
func (t *table) row(what, figure, detail string) {
	t.rows = append(t.rows, [4]string{what, figure, "", detail})
}

// goal adds a figure with its upper limit.
func (t *table) goal(what string, have, most float64, unit, detail string) {
	verdict := fmt.Sprintf("goal %g%s: %.2f of it", most, unit, have/most)
	if most == 0 {
		verdict = "goal 0"
	}
	if have > most {
		verdict += ", goal missed"
	}
	t.rows = append(t.rows, [4]string{what, fmt.Sprintf("%.4g%s", have, unit), verdict, detail})
}

func (t *table) seconds(what string, have, most time.Duration, detail string) {
	t.goal(what, have.Seconds(), most.Seconds(), " s", detail)
}

// calls adds the AWS calls for each of n resources; most is the goal, or 0 for none.
func (t *table) calls(what string, c fakeaws.Counts, n int, most float64) {
	each := float64(c.Total()) / float64(n)
	if most > 0 {
		t.goal(what, each, most, "", callsText(c, n))
		return
	}
	t.row(what, fmt.Sprintf("%.2f", each), callsText(c, n))
}

func callsText(c fakeaws.Counts, n int) string {
	parts := make([]string, 0, len(c))
	for _, name := range slices.Sorted(maps.Keys(c)) {
		text := fmt.Sprintf("%s %.2f", name, float64(c[name].Calls)/float64(n))
		if refused := c[name].Errors; refused > 0 {
			text += fmt.Sprintf(" (%.2f refused)", float64(refused)/float64(n))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func (t *table) print(out io.Writer, title string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, row := range t.rows {
		_, _ = fmt.Fprintf(w, "  %s\n", strings.Join(row[:], "\t"))
	}
	_ = w.Flush()
	_, _ = fmt.Fprintf(out, "\n%s\n", title)
	for line := range strings.Lines(b.String()) {
		_, _ = fmt.Fprintln(out, strings.TrimRight(line, " \n"))
	}
}
