// Package failover measures how long Portico is without a leader when the leading operator ends, and whether anything
// is done twice during the change. It runs two operators with a deployment's flags against a real kube-apiserver and
// the AWS simulator. It fails when a goal is missed.
package failover

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

const (
	team = "failover"
	// poll is the interval for states that cannot be watched.
	poll = 20 * time.Millisecond
)

// way is a way in which a leader ends, and the maximum time until the next one works.
type way struct {
	name string
	end  func(*campaign.Replica) error
	goal time.Duration
}

var ways = []way{
	{"SIGTERM", func(o *campaign.Replica) error { return o.Stop() }, 5 * time.Second},
	{"SIGKILL", func(o *campaign.Replica) error { return o.Kill() }, 10 * time.Second},
}

// hiccups is the scenario in which the API server does not answer for a while.
const hiccups = "hiccups"

// Campaign returns the measurement of failovers.
func Campaign() campaign.Campaign {
	var tries, times int
	c := campaign.Campaign{Name: "failover"}
	for _, w := range ways {
		c.Scenarios = append(c.Scenarios, campaign.Scenario{
			Name: w.name, Takes: 4 * time.Minute,
			Does: fmt.Sprintf("After %s of the leader another operator works within %s; nothing is done twice", w.name,
				w.goal),
		})
	}
	c.Scenarios = append(c.Scenarios, campaign.Scenario{
		Name: hiccups, Does: "No leader ends because the API server does not answer for 3 s", Takes: time.Minute,
	})
	c.Flags = func(flags *flag.FlagSet) {
		flags.IntVar(&tries, "tries", 20, "how often a leader is ended, each `way`")
		flags.IntVar(&times, "hiccups", 5, "how `often` the API server stops answering for a while")
	}
	c.Run = func(ctx context.Context, r campaign.Run) error {
		return r.In(ctx, stack.Options{Parts: stack.ControlPlane | stack.AWS},
			func(ctx context.Context, shared *campaign.World) error {
				w := &world{World: shared, results: campaign.Results{Title: "Failover of the operator"}}
				defer w.results.Print(r.Out)
				return w.run(ctx, r, tries, times)
			})
	}
	return c
}

// world is the control plane, AWS and two operators.
type world struct {
	*campaign.World
	operators []*campaign.Replica
	began     awsproxy.Mark
	results   campaign.Results
}

// run runs the chosen scenarios. A goal that is missed does not end it, anything else does.
func (w *world) run(ctx context.Context, r campaign.Run, tries, times int) error {
	if err := w.fill(ctx); err != nil {
		return err
	}
	var missed []error
	for _, one := range ways {
		if !r.Chosen(one.name) {
			continue
		}
		late, err := w.measure(ctx, one, tries)
		if err != nil {
			return err
		}
		missed = append(missed, late)
	}
	if r.Chosen(hiccups) {
		missed = append(missed, w.pause(ctx, times))
	}
	return errors.Join(append(missed, w.doubles())...)
}

// fill creates the team's namespace, and starts two operators.
func (w *world) fill(ctx context.Context) error {
	if err := w.MakeTeam(ctx, team, campaign.WithAWS); err != nil {
		return err
	}
	w.began = w.Proxy.Mark()
	for i := range 2 {
		o, err := w.StartOperator(ctx, process.Spec{Name: fmt.Sprintf("operator-%d", i)})
		if err != nil {
			return err
		}
		w.operators = append(w.operators, o)
	}
	return nil
}

// roles waits until exactly one operator leads.
func (w *world) roles(ctx context.Context) (leader, standby *campaign.Replica, err error) {
	err = w.Until(ctx, poll, "one of two operators to lead", func() error {
		a, b := w.operators[0].Leads(ctx), w.operators[1].Leads(ctx)
		leader, standby = w.operators[0], w.operators[1]
		if b == nil {
			leader, standby = standby, leader
		}
		if (a == nil) == (b == nil) {
			return fmt.Errorf("%w, %w", a, b)
		}
		return nil
	})
	return leader, standby, err
}

// measure ends the leader tries times, and returns an error as missed if that misses the goal.
func (w *world) measure(ctx context.Context, one way, tries int) (missed, err error) {
	var leads, works []time.Duration
	for i := range tries {
		t, err := w.try(ctx, one, fmt.Sprintf("%s-%d", one.name, i))
		if err != nil {
			return nil, fmt.Errorf("%s, try %d: %w", one.name, i+1, err)
		}
		leads, works = append(leads, t.leads), append(works, t.works)
		w.Say("%s %d of %d: leads after %.1f s, works after %.1f s", one.name, i+1, tries, t.leads.Seconds(),
			t.works.Seconds())
	}
	spread := func(all []time.Duration) string {
		return fmt.Sprintf("the longest of %d; median %.1f s", tries, campaign.Percentile(all, 0.5).Seconds())
	}
	w.results.Figure(one.name+": the next leader leads after", fmt.Sprintf("%.1f s", slices.Max(leads).Seconds()),
		spread(leads))
	most := slices.Max(works)
	w.results.Goal(one.name+": it creates in AWS after", most.Seconds(), one.goal.Seconds(), " s", spread(works))
	if most > one.goal {
		missed = fmt.Errorf("after %s it took %.1f s until something was created again, and the goal is %.0f s",
			one.name, most.Seconds(), one.goal.Seconds())
	}
	return missed, nil
}
