package page

import (
	"time"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/web/views"
)

// StuckAfter is when a deletion counts as stuck. Databases take longer, which their sentence says.
const StuckAfter = 5 * time.Minute

// Stuck reports whether a deletion that was requested at since is stuck.
func Stuck(since, now time.Time) bool { return now.Sub(since) >= StuckAfter }

// CountsIn returns the total, and the count of each phase.
func CountsIn(n overview.Counts) []views.Count {
	counts := []views.Count{{N: n.Total()}}
	for _, is := range []phase.Phase{phase.NeedsYou, phase.InProgress, phase.Ready, phase.Paused, phase.Deleting} {
		counts = append(counts, views.Count{Phase: is, N: n[is]})
	}
	return counts
}

// CountsOver returns the counts of phases other than zero, worst first.
func CountsOver(n overview.Counts) []views.Count {
	var counts []views.Count
	for _, is := range phase.All() {
		if n[is] > 0 {
			counts = append(counts, views.Count{Phase: is, N: n[is]})
		}
	}
	return counts
}
