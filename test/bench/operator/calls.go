package operator

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/campaign"
)

func seconds(t *campaign.Results, what string, have, most time.Duration, detail string) {
	t.Goal(what, have.Seconds(), most.Seconds(), " s", detail)
}

// calls adds the AWS calls for each of n resources; most is the goal, or 0 for none.
func calls(t *campaign.Results, what string, c fakeaws.Counts, n int, most float64) {
	each := float64(c.Total()) / float64(n)
	if most > 0 {
		t.Goal(what, each, most, "", callsText(c, n))
		return
	}
	t.Figure(what, fmt.Sprintf("%.2f", each), callsText(c, n))
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
