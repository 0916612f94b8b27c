// Command chaos runs random user actions against Portico for a while, with crashes, AWS faults, clock jumps and changes
// made outside the operator. Then all faults end, everything must settle, and AWS is compared with the cluster. It
// fails when something is wrong. A seed determines the user actions, the faults and the kills; their timing differs
// from run to run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	measure "github.com/portico-platform/portico/test/campaign"
)

func main() {
	forgetAWS()
	measure.Main("chaos", run)
}

// forgetAWS removes the caller's AWS variables from the environment, so that neither this process nor the operator uses
// them.
func forgetAWS() {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			_ = os.Unsetenv(name) // fails only for invalid names
		}
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) (failed error) {
	o, err := parse(args, time.Now())
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%s\nseed %d, for %s: make chaos SEED=%d DURATION=%s\n", measure.Machine(), o.seed,
		o.duration, o.seed, o.duration)
	w, err := begin(ctx, o, progress)
	if err != nil {
		return err
	}
	defer func() {
		if failed != nil {
			w.stack.KeepLogs()
			failed = fmt.Errorf("%w\nlogs are in %s; make chaos SEED=%d DURATION=%s draws the same", failed,
				w.stack.Dir, o.seed, o.duration)
		}
		failed = errors.Join(failed, w.stack.Close())
	}()
	if err := w.storm(ctx); err != nil {
		return err
	}
	return w.judge(ctx, out)
}

// judge ends all faults, waits until everything has settled, and compares.
func (w *world) judge(ctx context.Context, out io.Writer) error {
	took, unsettled, err := w.settle(ctx)
	if err != nil {
		return err
	}
	w.report(out)
	if len(unsettled) > 0 {
		return fmt.Errorf("not settled %s after the end of all faults:\n  %s", took.Round(time.Second),
			strings.Join(unsettled, "\n  "))
	}
	_, _ = fmt.Fprintf(out, "settled after                 %.0f s\n", took.Seconds())
	written, err := w.atRest(ctx, out)
	if err != nil {
		return err
	}
	if w.sabotage {
		return w.tryComparison(ctx, out)
	}
	p, err := w.picture(ctx)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, p.counts())
	wrong := append(append(w.taken(), written...), p.compare()...)
	if len(wrong) > 0 {
		return fmt.Errorf("%d things are wrong:\n  %s", len(wrong), strings.Join(wrong, "\n  "))
	}
	_, _ = fmt.Fprintln(out, "nothing is wrong")
	return nil
}
