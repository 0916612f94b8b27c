// Command bench-operator measures the operator as a separate process, by what its users and AWS observe. It runs
// against a real kube-apiserver, with AWS answered from memory, or for hostnames by the simulator behind the strict
// proxy. It does not assert times; it fails only if a requested object never becomes Ready or is never deleted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/bench/measure"
)

func main() { measure.Main("bench-operator", run) }

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("bench-operator", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	only := flags.String("scenarios", strings.Join(names(), ","), "which `scenarios` to run, separated by commas")
	more := flags.String("operator-flags", "", "more `flags` for the operator, separated by spaces; the goals are "+
		"for none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\n%s\n", measure.Machine())
	for _, simulated := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(chosen), func(s scenario) bool { return s.simulated != simulated })
		if len(some) == 0 {
			continue
		}
		w, err := begin(ctx, simulated, *root, strings.Fields(*more), progress)
		if err != nil {
			return err
		}
		if err := w.measureAll(ctx, some, out); err != nil {
			return err
		}
	}
	return nil
}

// measureAll runs the chosen scenarios one after the other, and stops at the first error.
func (w *world) measureAll(ctx context.Context, chosen []scenario, out io.Writer) (failed error) {
	for _, s := range chosen {
		if failed = w.measure(ctx, s, out); failed != nil {
			w.stack.KeepLogs()
			failed = fmt.Errorf("%s: %w (logs are in %s)", s.name, failed, w.stack.Dir)
			break // what it left behind would affect the next scenario
		}
	}
	return errors.Join(failed, w.end())
}

func names() []string {
	all := make([]string, 0, len(scenarios))
	for _, s := range scenarios {
		all = append(all, s.name)
	}
	return all
}

func choose(only string) ([]scenario, error) {
	var chosen []scenario
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no scenario %q; choose from %s", name, strings.Join(names(), ","))
		}
		chosen = append(chosen, scenarios[i])
	}
	return chosen, nil
}
