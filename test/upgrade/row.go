package upgrade

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/campaign"
)

// row is the result of one step.
type row struct {
	phase, runs string
	took        time.Duration // until every object was reconciled and Ready
	reads       int           // the operator's read calls to AWS
	replaced    int           // new Pods
	visits      int           // requests to the portal
	// These must be empty: writes in AWS, actions that the operator planned, changes of users' objects, and lost
	// requests.
	writes, planned, changed, lost []string
}

// verdict returns an error unless everything that must be empty is.
func (r row) verdict() error {
	var errs []error
	for _, one := range []struct {
		what string
		all  []string
	}{
		{"writes in AWS", r.writes},
		{"steps that the operator found to do", r.planned},
		{"changes of what users have", r.changed},
		{"requests to the portal lost", r.lost},
	} {
		if len(one.all) > 0 {
			errs = append(errs, fmt.Errorf("%d %s:\n  %s", len(one.all), one.what,
				strings.Join(one.all[:min(len(one.all), most)], "\n  ")))
		}
	}
	return errors.Join(errs...)
}

// most is the maximum number of entries that verdict lists of each.
const most = 20

// results returns the table of all steps.
func (c *installation) results() *campaign.Results {
	total := 0
	parts := make([]string, 0, len(c.counts))
	for _, kind := range slices.Sorted(maps.Keys(c.counts)) {
		total += c.counts[kind]
		parts = append(parts, fmt.Sprintf("%d %s", c.counts[kind], kind))
	}
	t := &campaign.Results{
		Title: fmt.Sprintf("%s; %d objects: %s\nThe goal is 0 for AWS writes, found to do, changed and lost.", c.title,
			total, strings.Join(parts, ", ")),
		Head: []string{
			"Step", "Pods then", "All Ready after", "Pods replaced", "AWS reads", "AWS writes", "Found to do",
			"Changed", "Requests", "Lost",
		},
	}
	for _, r := range c.rows {
		cells := []string{r.phase, r.runs, fmt.Sprintf("%.1f s", r.took.Seconds())}
		for _, n := range []int{
			r.replaced, r.reads, len(r.writes), len(r.planned), len(r.changed), r.visits, len(r.lost),
		} {
			cells = append(cells, strconv.Itoa(n))
		}
		t.Row(cells...)
	}
	return t
}
