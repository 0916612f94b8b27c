package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/bench/measure"
)

// scenario is one measurement. It starts with its own operator, at rest and with no objects.
type scenario struct {
	name, title string
	limit       time.Duration // for the whole scenario
	run         func(ctx context.Context, w *world, f *fleet, t *table) error
	namespaces  int      // 0 means one
	simulated   bool     // AWS is the simulator behind the strict proxy, with load balancers, instead of fakeaws
	flags       []string // additional flags of its operator
	untold      bool     // omit the cost of deletions: the operator's clocks are fast by then, or run reports it
}

var scenarios = []scenario{
	{name: "first-call", title: "From create to the first AWS call: 100 buckets, one after the other, on an idle system", limit: 2 * time.Minute, run: firstCall},
	{name: "latency", title: "50 name-only buckets at once, 30 ms added to each AWS call", limit: 2 * time.Minute, run: latency},
	{name: "fleet", title: "1,000 at once: 500 buckets and 500 queues, no latency", limit: 5 * time.Minute, run: many(500, 28*time.Second)},
	{name: "fleet-2000", title: "2,000 at once: 1,000 buckets and 1,000 queues, no latency", limit: 8 * time.Minute, run: many(1000, 0)},
	{
		name: "buckets-10000", title: "10,000 name-only buckets at once, no latency, S3 at 1,000 calls a second",
		limit: 20 * time.Minute, run: buckets, untold: true,
		flags: []string{"--aws-rate=S3=1000"}, // at the default of 200 the rate limit would be measured
	},
	{name: "fair", title: "One bucket after the other beside another team's 10,000 and its annotation loop, 30 ms added to each AWS call", limit: 8 * time.Minute, run: fairShare, untold: true},
	{
		name: "fair-rate", title: "The same at 20 calls a second to S3, which the other team alone would use up",
		limit: 8 * time.Minute, run: fairShare, untold: true,
		flags: []string{"--aws-rate=S3=20"},
	},
	{name: "admission", title: "What admission policies add to a dry run, 500 of each: 200 Teams and 20 providers with guardrails", limit: 8 * time.Minute, run: admission, untold: true},
	{name: "webapp", title: "One web app after the other on an idle system: made, given another image, deleted; 20 of them", limit: 5 * time.Minute, run: webApp, untold: true},
	{name: "webapps", title: "500 web apps of one Pod at once", limit: 10 * time.Minute, run: webApps, untold: true},
	{name: "rest", title: "1,000 at rest: 500 buckets and 500 queues, the operator's clocks 120 times as fast", limit: 8 * time.Minute, run: atRest, untold: true},
	{name: "hostname", title: "One hostname after the other on an idle system; 10 of them", limit: 5 * time.Minute, run: oneHostname, simulated: true, untold: true},
	{
		name: "hostnames", title: "200 hostnames of 10 teams at once in one zone, Route 53 taking 5 requests a second",
		limit: 15 * time.Minute, run: manyHostnames, namespaces: 10, simulated: true, untold: true,
	},
}

// measure runs one scenario, prints its results, then cleans up and reports that, too.
func (w *world) measure(ctx context.Context, s scenario, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	_, _ = fmt.Fprintf(w.progress, "%-24s running, at most %s\n", s.name, s.limit)
	namespaces, err := w.makeNamespaces(ctx, "bench-"+s.name, s.namespaces)
	if err != nil {
		return err
	}
	f, err := newFleet(ctx, w.kube, namespaces)
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
	t := &table{}
	if idle := w.operator.usage(); idle.Known {
		t.row("operator before it has anything to do", fmt.Sprintf("%.0f MB", idle.Peak), "peak resident")
	}
	if err := s.run(ctx, w, f, t); err != nil {
		t.print(out, s.title+" (not all of it)")
		return err
	}
	if !s.simulated {
		w.aws.SetLatency(0)
	}
	deletions := t
	if s.untold {
		t.print(out, s.title)
		deletions = &table{}
	}
	if err = w.cleared(ctx, f, deletions); err == nil && !s.untold {
		t.print(out, s.title)
	}
	return cmp.Or(err, w.stopOperator())
}

// cleared deletes the scenario's objects and reports the cost.
func (w *world) cleared(ctx context.Context, f *fleet, t *table) error {
	before, began := w.counts(), time.Now()
	if err := f.clear(ctx); err != nil {
		return err
	}
	took, n := time.Since(began), len(f.created)
	if err := w.calm(ctx); err != nil {
		return err
	}
	t.row("all deleted after", fmt.Sprintf("%.2f s", took.Seconds()),
		fmt.Sprintf("%.0f a second", float64(n)/took.Seconds()))
	t.calls("AWS calls for each deletion", w.counts().Since(before), n, 3)
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
	for {
		secrets, pods := &corev1.SecretList{}, &corev1.PodList{}
		err := errors.Join(w.kube.List(ctx, secrets, client.InNamespace(namespace), client.Limit(1)),
			w.kube.List(ctx, pods, client.InNamespace(namespace), client.Limit(1)))
		if err != nil || len(secrets.Items)+len(pods.Items) == 0 {
			return err
		}
		if err := measure.Pause(ctx, poll); err != nil {
			return fmt.Errorf("binding Secrets or Pods are still there: %w", err)
		}
	}
}

// burst is what was counted until a fleet was Ready.
type burst struct {
	calls  fakeaws.Counts
	writes writes
	peak   measure.Usage            // of the operator, at the end
	busy   map[string]time.Duration // until all objects were Ready
}

// rise creates the objects and counts until all of them are Ready and the operator is quiet.
func (w *world) rise(ctx context.Context, f *fleet, objects []resource) (*burst, error) {
	calls := w.counts()
	before, err := w.kubernetesWrites(ctx)
	if err != nil {
		return nil, err
	}
	busy := w.busy()
	if err := f.create(ctx, objects); err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	if err := f.allReady(ctx); err != nil {
		return nil, err
	}
	now := w.busy()
	for name := range now {
		now[name] -= busy[name]
	}
	if err := w.calm(ctx); err != nil {
		return nil, err
	}
	after, err := w.kubernetesWrites(ctx)
	if err != nil {
		return nil, err
	}
	return &burst{calls: w.counts().Since(calls), writes: after.since(before), peak: w.operator.usage(), busy: now}, nil
}

func latency(ctx context.Context, w *world, f *fleet, t *table) error {
	const n, added = 50, 30 * time.Millisecond
	w.aws.SetLatency(added)
	b, err := w.rise(ctx, f, objects(f, n, newBucket))
	if err != nil {
		return err
	}
	t.seconds("all Ready after", f.took(), 3*time.Second, spread(f))
	// The lower bound for any operator with this number of workers.
	least := time.Duration(b.calls.Total()) * added / workers
	t.row("of the least that latency allows", fmt.Sprintf("%.1f times", f.took().Seconds()/least.Seconds()),
		fmt.Sprintf("%d calls × %s / %d workers = %.2f s", b.calls.Total(), added, workers, least.Seconds()))
	t.calls("AWS calls for each", b.calls, n, 4)
	b.tell(t, n, fewestWrites)
	return nil
}

// workers is the operator's default number of workers for each kind.
const workers = 10

func many(ofEach int, goal time.Duration) func(context.Context, *world, *fleet, *table) error {
	return func(ctx context.Context, w *world, f *fleet, t *table) error {
		all := mixed(f, ofEach)
		n := len(all)
		b, err := w.rise(ctx, f, all)
		if err != nil {
			return err
		}
		rate := fmt.Sprintf("%.0f a second; %s", float64(n)/f.took().Seconds(), spread(f))
		if goal > 0 {
			t.seconds("all Ready after", f.took(), goal, rate)
		} else {
			t.row("all Ready after", fmt.Sprintf("%.4g s", f.took().Seconds()), rate)
		}
		t.calls("AWS calls for each bucket", b.calls.Of("s3"), ofEach, 4)
		t.calls("AWS calls for each queue", b.calls.Of("sqs"), ofEach, 4)
		b.tell(t, n, fewestWrites)
		if b.peak.Known {
			t.goal("operator's peak resident memory", b.peak.Peak, 100, " MB", "")
		}
		return nil
	}
}

// buckets creates as many buckets as a large platform has.
func buckets(ctx context.Context, w *world, f *fleet, t *table) error {
	const n = 10_000
	b, err := w.rise(ctx, f, objects(f, n, newBucket))
	if err != nil {
		return err
	}
	rate := fmt.Sprintf("%.0f a second; %s", float64(n)/f.took().Seconds(), spread(f))
	t.seconds("all Ready after", f.took(), 120*time.Second, rate)
	t.calls("AWS calls for each", b.calls, n, 4)
	b.tell(t, n, fewestWrites)
	if b.peak.Known {
		t.goal("operator's peak resident memory", b.peak.Peak, 150, " MB", "")
	}
	return nil
}

// fewestWrites is the number of writes until a bucket or a queue is Ready: reservation, ControllerRevision, binding
// Secret, status.
const fewestWrites = 4

// tell adds the figures that every burst has. most is the goal for Kubernetes writes, or 0 for none.
func (b *burst) tell(t *table, n int, most float64) {
	if each := float64(b.writes.total()) / float64(n); most > 0 {
		t.goal("Kubernetes writes for each", each, most, "", b.writes.text(n))
	} else {
		t.row("Kubernetes writes for each", fmt.Sprintf("%.2f", each), b.writes.text(n))
	}
	if !b.peak.Known {
		return
	}
	each := func(name string) string { return fmt.Sprintf("%.1f ms", b.busy[name].Seconds()*1000/float64(n)) }
	var others []string
	for _, name := range slices.Sorted(maps.Keys(b.busy)) {
		if name != "operator" {
			others = append(others, name+" "+each(name))
		}
	}
	t.row("operator's CPU for each", each("operator"), "beside it: "+strings.Join(others, ", "))
}

func objects(f *fleet, n int, one func(string, int) resource) []resource {
	all := make([]resource, n)
	for i := range all {
		all[i] = one(f.namespaces[i%len(f.namespaces)], i)
	}
	return all
}

// mixed returns buckets and queues in turn, ofEach of each kind.
func mixed(f *fleet, ofEach int) []resource {
	all := make([]resource, 0, 2*ofEach)
	for i := range ofEach {
		all = append(all, newBucket(f.namespaces[0], i), newQueue(f.namespaces[0], i))
	}
	return all
}

func spread(f *fleet) string {
	waits := f.waits()
	return fmt.Sprintf("each p50 %.2f s, p99 %.2f s", measure.Percentile(waits, 0.5).Seconds(),
		measure.Percentile(waits, 0.99).Seconds())
}
