package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/bench/measure"
)

// table is the results, printed as Markdown.
type table struct {
	machine string
	size    size
	rows    [][4]string
}

// row adds a figure without a budget, with an explanation.
func (t *table) row(what, figure, detail string) {
	t.rows = append(t.rows, [4]string{what, figure, "", detail})
}

// budget adds a figure with its upper limit.
func (t *table) budget(what string, have, most float64, unit, detail string) {
	verdict := fmt.Sprintf("%g%s: holds, %.2f of it", most, unit, have/most)
	switch {
	case have > most:
		verdict = fmt.Sprintf("%g%s: **missed**", most, unit)
	case most == 0:
		verdict = "0: holds"
	}
	t.rows = append(t.rows, [4]string{what, fmt.Sprintf("%.3g%s", have, unit), verdict, detail})
}

// times adds a sample; most is the budget for the 95th percentile, or 0 for none.
func (t *table) times(what string, all []time.Duration, most time.Duration, detail string) {
	ms := func(p float64) float64 { return float64(measure.Percentile(all, p).Microseconds()) / 1000 }
	spread := fmt.Sprintf("p50 %.3g ms, p99 %.3g ms, %d in all", ms(0.5), ms(0.99), len(all))
	if detail != "" {
		spread += "; " + detail
	}
	if most == 0 {
		t.row(what+", p95", fmt.Sprintf("%.3g ms", ms(0.95)), spread)
		return
	}
	t.budget(what+", p95", ms(0.95), float64(most.Milliseconds()), " ms", spread)
}

func (t *table) print(out io.Writer) {
	s := t.size
	_, _ = fmt.Fprintf(out, "\n%s; %d objects in %d namespaces, %d streams, %d writes and %d views a second\n\n",
		t.machine,
		s.namespaces*s.objects, s.namespaces, s.streams(), writesASecond, viewsASecond)
	_, _ = fmt.Fprint(out, "| What | Measured | Budget | |\n|---|---|---|---|\n")
	for _, row := range t.rows {
		_, _ = fmt.Fprintf(out, "| %s |\n", strings.Join(row[:], " | "))
	}
}
