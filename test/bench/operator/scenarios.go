// Package operator measures the operator as a separate process, by what its users and AWS observe. It runs against a
// real kube-apiserver, with AWS answered from memory, or for hostnames by the simulator behind the strict proxy. It
// does not assert times; it fails only if a requested object never becomes Ready or is never deleted.
package operator

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
)

// scenario is one measurement. It starts with its own operator, at rest and with no objects.
type scenario struct {
	name, title string
	takes       time.Duration // about
	limit       time.Duration // for the whole scenario
	run         func(ctx context.Context, w *world, f *fleet, t *campaign.Results) error
	namespaces  int      // 0 means one
	simulated   bool     // AWS is the simulator behind the strict proxy, with load balancers, instead of fakeaws
	flags       []string // additional flags of its operator
	untold      bool     // omit the cost of deletions: the operator's clocks are fast by then, or run reports it
}

var scenarios = []scenario{
	{name: "first-call", title: "From create to the first AWS call: 100 buckets, one after the other, on an idle system", takes: time.Minute, limit: 2 * time.Minute, run: firstCall},
	{name: "latency", title: "50 name-only buckets at once, 30 ms added to each AWS call", takes: 30 * time.Second, limit: 2 * time.Minute, run: latency},
	{name: "fleet", title: "1,000 at once: 500 buckets and 500 queues, no latency", takes: 90 * time.Second, limit: 5 * time.Minute, run: many(500, 28*time.Second)},
	{name: "fleet-2000", title: "2,000 at once: 1,000 buckets and 1,000 queues, no latency", takes: 2 * time.Minute, limit: 8 * time.Minute, run: many(1000, 0)},
	{
		name: "buckets-10000", title: "10,000 name-only buckets at once, no latency, S3 at 1,000 calls a second",
		takes: 4 * time.Minute, limit: 20 * time.Minute, run: buckets, untold: true,
		flags: []string{"--aws-rate=S3=1000"}, // at the default of 200 the rate limit would be measured
	},
	{name: "fair", title: "One bucket after the other beside another team's 10,000 and its annotation loop, 30 ms added to each AWS call", takes: 5 * time.Minute, limit: 8 * time.Minute, run: fairShare, untold: true},
	{
		name: "fair-rate", title: "The same at 20 calls a second to S3, which the other team alone would use up",
		takes: 5 * time.Minute, limit: 8 * time.Minute, run: fairShare, untold: true,
		flags: []string{"--aws-rate=S3=20"},
	},
	{name: "admission", title: "What admission policies add to a dry run, 500 of each: 200 Teams and 20 providers with guardrails", takes: time.Minute, limit: 8 * time.Minute, run: admission, untold: true},
	{name: "webapp", title: "One web app after the other on an idle system: made, given another image, deleted; 20 of them", takes: time.Minute, limit: 5 * time.Minute, run: webApp, untold: true},
	{name: "webapps", title: "500 web apps of one Pod at once", takes: 2 * time.Minute, limit: 10 * time.Minute, run: webApps, untold: true},
	{name: "rest", title: "1,000 at rest: 500 buckets and 500 queues, the operator's clocks 120 times as fast", takes: 4 * time.Minute, limit: 8 * time.Minute, run: atRest, untold: true},
	{name: "hostname", title: "One hostname after the other on an idle system; 10 of them", takes: time.Minute, limit: 5 * time.Minute, run: oneHostname, simulated: true, untold: true},
	{
		name: "hostnames", title: "200 hostnames of 10 teams at once in one zone, Route 53 taking 5 requests a second",
		takes: 5 * time.Minute, limit: 15 * time.Minute,
		run: manyHostnames, namespaces: 10, simulated: true, untold: true,
	},
}

// Campaign returns the benchmark of the operator.
func Campaign() campaign.Campaign {
	c := campaign.Campaign{Name: "bench-operator"}
	for _, s := range scenarios {
		c.Scenarios = append(c.Scenarios, campaign.Scenario{Name: s.name, Does: s.title, Takes: s.takes})
	}
	var more string
	c.Flags = func(flags *flag.FlagSet) {
		flags.StringVar(&more, "flags", "", "more `flags` for the operator, separated by spaces; the goals are for "+
			"none")
	}
	c.Run = func(ctx context.Context, r campaign.Run) error {
		for _, simulated := range []bool{false, true} {
			chosen := slices.DeleteFunc(slices.Clone(scenarios), func(s scenario) bool {
				return s.simulated != simulated || !r.Chosen(s.name)
			})
			if len(chosen) == 0 {
				continue
			}
			if err := measureAll(ctx, r, chosen, simulated, strings.Fields(more)); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// measureAll runs scenarios one after the other in one world, and stops at the first error: what a scenario left behind
// would affect the next one.
func measureAll(ctx context.Context, r campaign.Run, chosen []scenario, simulated bool, more []string) error {
	w := &world{more: more}
	o := stack.Options{Parts: stack.ControlPlane | stack.AWS | stack.Gateways}
	if !simulated {
		var err error
		if w.aws, err = fakeaws.Start(); err != nil {
			return err
		}
		defer func() { _ = w.aws.Close() }()
		o.Parts, o.AWSEndpoint = stack.ControlPlane|stack.Scheduler|stack.Nodes|stack.AWS, w.aws.URL
	}
	return r.In(ctx, o, func(ctx context.Context, shared *campaign.World) error {
		w.World = shared
		for _, s := range chosen {
			if err := w.measure(ctx, s, r.Out); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		return nil
	})
}

// measure runs one scenario, prints its results, then cleans up and reports that, too.
func (w *world) measure(ctx context.Context, s scenario, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	w.Say("%-24s running, at most %s", s.name, s.limit)
	namespaces, err := w.makeNamespaces(ctx, "bench-"+s.name, s.namespaces)
	if err != nil {
		return err
	}
	f, err := newFleet(ctx, w.Kube, namespaces)
	if err != nil {
		return err
	}
	defer f.stop()
	if err := w.startOperator(ctx, s.flags...); err != nil {
		return err
	}
	if err := w.calm(ctx); err != nil {
		return err
	}
	t := &campaign.Results{Title: s.title}
	if idle := w.operator.Usage(); idle.Known {
		t.Figure("operator before it has anything to do", fmt.Sprintf("%.0f MB", idle.Peak), "peak resident")
	}
	if err := s.run(ctx, w, f, t); err != nil {
		t.Title += " (not all of it)"
		t.Print(out)
		return err
	}
	if !s.simulated {
		w.aws.SetLatency(0)
	}
	deletions := t
	if s.untold {
		t.Print(out)
		deletions = &campaign.Results{}
	}
	if err = w.cleared(ctx, f, deletions); err == nil && !s.untold {
		t.Print(out)
	}
	return cmp.Or(err, w.operator.Stop())
}

// cleared deletes the scenario's objects and reports the cost.
func (w *world) cleared(ctx context.Context, f *fleet, t *campaign.Results) error {
	before, began := w.counts(), time.Now()
	if err := f.clear(ctx); err != nil {
		return err
	}
	took, n := time.Since(began), len(f.created)
	if err := w.calm(ctx); err != nil {
		return err
	}
	t.Figure("all deleted after", fmt.Sprintf("%.2f s", took.Seconds()),
		fmt.Sprintf("%.0f a second", float64(n)/took.Seconds()))
	calls(t, "AWS calls for each deletion", w.counts().Since(before), n, 3)
	for _, namespace := range f.namespaces {
		if err := w.collected(ctx, namespace); err != nil {
			return err
		}
	}
	return nil
}

// collected waits until the garbage collector has deleted the binding Secrets and Pods, so that they do not affect the
// next scenario.
func (w *world) collected(ctx context.Context, namespace string) error {
	return w.Until(ctx, poll, "binding Secrets and Pods to be gone", func() error {
		secrets, pods := &corev1.SecretList{}, &corev1.PodList{}
		err := errors.Join(w.Kube.List(ctx, secrets, client.InNamespace(namespace), client.Limit(1)),
			w.Kube.List(ctx, pods, client.InNamespace(namespace), client.Limit(1)))
		if err == nil && len(secrets.Items)+len(pods.Items) > 0 {
			err = errors.New("some are still there")
		}
		return err
	})
}
