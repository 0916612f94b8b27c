// Package fuzz sends unexpected input to Portico for a few minutes: requests to the REST API of a real portal, generated
// by schemathesis from the OpenAPI document, and bytes to every Go fuzz target. It fails if either finds a fault. It
// connects only to loopback.
package fuzz

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/portico-platform/portico/test/campaign"
)

// job is what to fuzz, and for how long.
type job struct {
	root string
	seed uint
	// rest is how long requests are sent, each how long each Go target runs; 0 skips them.
	rest, each time.Duration
	out        io.Writer
	run        campaign.Run
}

// The names of the scenarios.
const (
	goTargets = "go"
	restAPI   = "rest"
)

// Campaign returns the fuzz campaign.
func Campaign() campaign.Campaign {
	var j job
	return campaign.Campaign{
		Name: "fuzz",
		Scenarios: []campaign.Scenario{
			{Name: goTargets, Does: "No fuzz target of Go fails with unexpected bytes", Takes: 3 * time.Minute},
			{Name: restAPI, Does: "The REST API answers unexpected requests as its document says", Takes: 3 * time.Minute},
		},
		Flags: func(flags *flag.FlagSet) {
			flags.UintVar(&j.seed, "seed", uint(rand.Uint32N(1<<31)), "of the requests; default: another one each time")
			flags.DurationVar(&j.rest, "rest", 150*time.Second, "for how long requests are sent to the REST API")
			flags.DurationVar(&j.each, "each", 10*time.Second, "for how long each fuzz target of Go runs")
		},
		Run: func(ctx context.Context, r campaign.Run) error {
			if j.rest <= 0 || j.each <= 0 || j.rest%time.Second != 0 || j.each%time.Second != 0 {
				return fmt.Errorf("-fuzz.rest %s -fuzz.each %s: want whole seconds, such as 90s", j.rest, j.each)
			}
			r.Progress = r.Out // what is found is between the lines of progress
			j.root, j.out, j.run = r.Root, r.Out, r
			return j.chosen().do(ctx)
		},
	}
}

// chosen returns the job with its chosen parts only.
func (j job) chosen() job {
	if !j.run.Chosen(restAPI) {
		j.rest = 0
	}
	if !j.run.Chosen(goTargets) {
		j.each = 0
	}
	return j
}

// do runs both parts, even if the first finds a fault.
func (j job) do(ctx context.Context) error {
	j.say("The seed is %d: SEED=%d make fuzz sends the same requests.", j.seed, j.seed)
	began := time.Now()
	var found error
	if j.each > 0 {
		found = j.targets(ctx)
	}
	if j.rest > 0 && ctx.Err() == nil {
		found = errors.Join(found, j.requests(ctx))
	}
	if ctx.Err() != nil {
		return errors.Join(found, fmt.Errorf("%w: it did not come to its end", context.Cause(ctx)))
	}
	if found == nil {
		j.say("\nNothing was found, in %.0f s.", time.Since(began).Seconds())
	}
	return found
}

func (j job) say(format string, args ...any) { _, _ = fmt.Fprintf(j.out, format+"\n", args...) }
