package campaign

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Results are the figures of a scenario, printed as a Markdown table.
type Results struct {
	Title string
	// Head are the titles of the columns; nil means those of figures: what, measured, goal and detail.
	Head []string
	rows [][]string
}

// Row adds a row.
func (r *Results) Row(cells ...string) { r.rows = append(r.rows, cells) }

// Figure adds a figure without a goal, with an explanation.
func (r *Results) Figure(what, figure, detail string) { r.Row(what, figure, "", detail) }

// Goal adds a figure with its upper limit.
func (r *Results) Goal(what string, have, most float64, unit, detail string) {
	verdict := fmt.Sprintf("%g%s: ", most, unit)
	if have > most {
		verdict += "**missed**"
	} else {
		verdict += "holds"
	}
	if most > 0 {
		verdict += fmt.Sprintf(", %.2f of it", have/most)
	}
	r.Row(what, fmt.Sprintf("%.4g%s", have, unit), verdict, detail)
}

// Times adds the 95th percentile of a sample, with its spread; most is its upper limit, or 0 for none.
func (r *Results) Times(what string, all []time.Duration, most time.Duration, detail string) {
	ms := func(p float64) float64 { return float64(Percentile(all, p).Microseconds()) / 1000 }
	spread := fmt.Sprintf("p50 %.3g ms, p99 %.3g ms, %d in all", ms(0.5), ms(0.99), len(all))
	if detail != "" {
		spread += "; " + detail
	}
	if most == 0 {
		r.Figure(what+", p95", fmt.Sprintf("%.3g ms", ms(0.95)), spread)
		return
	}
	r.Goal(what+", p95", ms(0.95), float64(most.Milliseconds()), " ms", spread)
}

// Print writes the table, with aligned columns. The last column is not padded.
func (r *Results) Print(out io.Writer) {
	head := r.Head
	if head == nil {
		head = []string{"What", "Measured", "Goal", ""}
	}
	_, _ = fmt.Fprintf(out, "\n%s\n\n", r.Title)
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	for _, cells := range slices.Insert(slices.Clone(r.rows), 0, head, slices.Repeat([]string{"---"}, len(head))) {
		_, _ = fmt.Fprintf(w, "| %s |\n", strings.Join(cells, "\t| "))
	}
	_ = w.Flush()
}
