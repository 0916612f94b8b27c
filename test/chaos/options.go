package chaos

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"time"
)

// finding is a seed whose campaign found a fault, and a description of the fault.
type finding struct {
	seed uint64
	what string
}

// found are the seeds that found a fault. CI runs one a day, in turn.
var found = []finding{
	{2, "what may not show yet was waited for until a clock that had been wrong caught up"},
	{11, "the Secrets of an object that was kept twice in a row were left to nobody"},
}

type options struct {
	binary   string        // of the operator
	duration time.Duration // of actions and faults
	settleIn time.Duration // maximum time until everything has settled
	restFor  time.Duration
	drawn    string // the flag that seed is from
	seed     uint64
	sabotage bool
}

// define defines the flags.
func (o *options) define(flags *flag.FlagSet) {
	flags.StringVar(&o.binary, "operator", "bin/operator-chaos", "the `path` of the operator of the test build, "+
		"which is to stay as it is meanwhile")
	flags.DurationVar(&o.duration, "duration", 20*time.Minute, "how long users act and faults strike")
	flags.DurationVar(&o.settleIn, "settle", 8*time.Minute, "how long everything may take to settle afterwards")
	flags.DurationVar(&o.restFor, "rest", 40*time.Second, "how long is watched that nothing is written any more; "+
		"longer than an audit interval")
	flags.StringVar(&o.drawn, "seed", "", "the `number` that acts, faults and kills are drawn from; \"found\" takes "+
		"one that found something, another one each day; default: a new one")
	flags.BoolVar(&o.sabotage, "sabotage", false, "do harm once all has settled, and see that it is found: a trial "+
		"of the comparison")
}

// complete checks the flags, and chooses the seed.
func (o *options) complete(now time.Time) (err error) {
	if o.duration <= 0 || o.settleIn <= 0 || o.restFor < auditInterval {
		return fmt.Errorf("-chaos.duration and -chaos.settle must be more than 0, and -chaos.rest at least %s",
			auditInterval)
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil { // processes run in other folders
		return err
	}
	o.seed, err = seedOf(o.drawn, now)
	return err
}

func seedOf(text string, now time.Time) (uint64, error) {
	switch {
	case text == "", text == "found" && len(found) == 0:
		return uint64(rand.Uint32()), nil
	case text == "found":
		return found[now.YearDay()%len(found)].seed, nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, errors.New("-chaos.seed must be a number, or found")
	}
	return seed, nil
}
