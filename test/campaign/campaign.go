// Package campaign is what the campaigns share: the table of their scenarios, the world that a scenario runs in,
// replicas of operator and portal, signed-in users, waits, measurements and tables of results. Command campaign runs
// them.
package campaign

import (
	"context"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"
)

// Campaign is a family of scenarios that can share a world.
type Campaign struct {
	Name      string
	Scenarios []Scenario
	// Flags defines the campaign's flags. Nil means that it has none.
	Flags func(*flag.FlagSet)
	// Run runs the chosen scenarios.
	Run func(context.Context, Run) error
}

// Scenario is a part of a campaign that can run without the others.
type Scenario struct {
	// Name is unique within the campaign. A campaign with one scenario leaves it empty.
	Name string
	// Does says what the scenario measures or proves.
	Does string
	// Takes is about how long it runs.
	Takes time.Duration
}

// Run is one run of a campaign.
type Run struct {
	Root     string    // the repository, as an absolute path
	Out      io.Writer // results
	Progress io.Writer // what goes on
	chosen   map[string]bool
}

// Chosen reports whether the scenario of this name is to run.
func (r Run) Chosen(scenario string) bool { return r.chosen[scenario] }

// Table is the table of all scenarios.
type Table []Campaign

// names returns the full names of a campaign's scenarios, as in "failover/SIGTERM".
func (c Campaign) names() []string {
	all := make([]string, 0, len(c.Scenarios))
	for _, s := range c.Scenarios {
		all = append(all, strings.TrimSuffix(c.Name+"/"+s.Name, "/"))
	}
	return all
}

// Print lists all scenarios.
func (t Table) Print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range t {
		for i, name := range c.names() {
			about := strings.Replace(c.Scenarios[i].Takes.String(), "m0s", "m", 1)
			_, _ = fmt.Fprintf(w, "  %s\t%s\t%s\n", name, about, c.Scenarios[i].Does)
		}
	}
	_ = w.Flush()
}

// Define defines the flags of all campaigns. The name of each begins with that of its campaign, as in "-chaos.seed".
func (t Table) Define(flags *flag.FlagSet) {
	for _, c := range t {
		own := flag.NewFlagSet(c.Name, flag.ContinueOnError)
		if c.Flags != nil {
			c.Flags(own)
		}
		own.VisitAll(func(f *flag.Flag) { flags.Var(f.Value, c.Name+"."+f.Name, f.Usage) })
	}
}

// Run runs the scenarios whose names match one of the regular expressions, each of which must match one. It stops at
// the first campaign that fails.
func (t Table) Run(ctx context.Context, patterns []string, r Run) error {
	chosen := map[string]bool{}
	for _, pattern := range patterns {
		names, err := t.matching(pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			chosen[name] = true
		}
	}
	for _, c := range t {
		r.chosen = map[string]bool{}
		for i, name := range c.names() {
			if chosen[name] {
				r.chosen[c.Scenarios[i].Name] = true
			}
		}
		if len(r.chosen) == 0 {
			continue
		}
		if err := c.Run(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// matching returns the names of the scenarios that match; none is an error.
func (t Table) matching(pattern string) (names []string, err error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("the pattern of scenarios: %w", err)
	}
	for _, c := range t {
		for _, name := range c.names() {
			if match.MatchString(name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		var all strings.Builder
		t.Print(&all)
		err = fmt.Errorf("there is no scenario %q; there are:\n%s", pattern, all.String())
	}
	return names, err
}
