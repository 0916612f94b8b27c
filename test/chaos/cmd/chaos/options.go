package main

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
	root     string
	binary   string        // of the operator
	duration time.Duration // of actions and faults
	settleIn time.Duration // maximum time until everything has settled
	restFor  time.Duration
	seed     uint64
	sabotage bool
}

func parse(args []string, now time.Time) (o options, err error) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.StringVar(&o.root, "root", ".", "the repository")
	flags.StringVar(&o.binary, "operator", "bin/operator-chaos", "the `path` of the operator of the test build, "+
		"which is to stay as it is meanwhile")
	flags.DurationVar(&o.duration, "duration", 20*time.Minute, "how long users act and faults strike")
	flags.DurationVar(&o.settleIn, "settle", 8*time.Minute, "how long everything may take to settle afterwards")
	flags.DurationVar(&o.restFor, "rest", 40*time.Second, "how long is watched that nothing is written any more; "+
		"longer than an audit interval")
	seed := flags.String("seed", "", "the `number` that acts, faults and kills are drawn from; \"found\" takes one "+
		"that found something, another one each day; default: a new one")
	flags.BoolVar(&o.sabotage, "sabotage", false, "do harm once all has settled, and see that it is found: a trial "+
		"of the comparison")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.duration <= 0 || o.settleIn <= 0 || o.restFor < auditInterval {
		return o, fmt.Errorf("-duration and -settle must be more than 0, and -rest at least %s", auditInterval)
	}
	for _, path := range []*string{&o.root, &o.binary} { // processes run in other folders
		if *path, err = filepath.Abs(*path); err != nil {
			return o, err
		}
	}
	o.seed, err = seedOf(*seed, now)
	return o, err
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
		return 0, errors.New("-seed must be a number, or found")
	}
	return seed, nil
}
