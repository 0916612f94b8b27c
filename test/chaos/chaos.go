// Package chaos runs random user actions against Portico for a while, with crashes, AWS faults, clock jumps and changes
// made outside the operator. Then all faults end, everything must settle, and AWS is compared with the cluster. It
// fails when something is wrong. A seed determines the user actions, the faults and the kills; their timing differs
// from run to run.
package chaos

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
)

// Campaign returns the chaos campaign.
func Campaign() campaign.Campaign {
	var o options
	return campaign.Campaign{
		Name: "chaos",
		Scenarios: []campaign.Scenario{{
			Does:  "After random users, crashes, faults and clock jumps, AWS is what the cluster says",
			Takes: 25 * time.Minute,
		}},
		Flags: o.define,
		Run:   o.run,
	}
}

// run runs the storm, and then compares.
func (o *options) run(ctx context.Context, r campaign.Run) error {
	if err := o.complete(time.Now()); err != nil {
		return err
	}
	again := fmt.Sprintf("make chaos SEED=%d DURATION=%s", o.seed, o.duration)
	_, _ = fmt.Fprintf(r.Out, "seed %d, for %s: %s\n", o.seed, o.duration, again)
	err := r.In(ctx, stack.Options{
		Parts:     stack.ControlPlane | stack.Scheduler | stack.Nodes | stack.AWS | stack.Gateways,
		TimeScale: awsScale, Seed: o.seed, WorkloadIdentity: true,
	}, func(ctx context.Context, shared *campaign.World) error {
		w := &world{
			World: shared, options: *o, counts: newCounts(), ledger: newLedger(), users: map[string]client.Client{},
		}
		if err := w.fill(ctx); err != nil {
			return err
		}
		if err := w.storm(ctx); err != nil {
			return err
		}
		return w.judge(ctx, r.Out)
	})
	if err != nil {
		return fmt.Errorf("%w; %s draws the same", err, again)
	}
	return nil
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
