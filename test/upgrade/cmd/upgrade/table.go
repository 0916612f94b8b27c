package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// table is the campaign's results.
type table struct {
	counts map[string]int // objects by kind
	rows   []row
}

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

func (t *table) print(out io.Writer) {
	total := 0
	parts := make([]string, 0, len(t.counts))
	for _, kind := range slices.Sorted(maps.Keys(t.counts)) {
		total += t.counts[kind]
		parts = append(parts, fmt.Sprintf("%d %s", t.counts[kind], kind))
	}
	_, _ = fmt.Fprintf(out, "%d objects: %s\n\n", total, strings.Join(parts, ", "))
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(w, "\tPods then\tall Ready after\tPods replaced\tAWS reads\tAWS writes\tfound to "+
		"do\tchanged\trequests\tlost")
	for _, r := range t.rows {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%.1f s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", r.phase, r.runs, r.took.Seconds(),
			r.replaced, r.reads,
			len(r.writes), len(r.planned), len(r.changed), r.visits, len(r.lost))
	}
	_ = w.Flush()
	_, _ = fmt.Fprintln(out, "goal 0 for writes, found to do, changed and lost")
}
