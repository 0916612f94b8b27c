package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/campaign"
)

// burst is what was counted until a fleet was Ready.
type burst struct {
	calls  fakeaws.Counts
	writes writes
	peak   campaign.Usage           // of the operator, at the end
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
	return &burst{calls: w.counts().Since(calls), writes: after.since(before), peak: w.operator.Usage(), busy: now}, nil
}

func latency(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
	const n, added = 50, 30 * time.Millisecond
	w.aws.SetLatency(added)
	b, err := w.rise(ctx, f, objects(f, n, newBucket))
	if err != nil {
		return err
	}
	seconds(t, "all Ready after", f.took(), 3*time.Second, spread(f))
	// The lower bound for any operator with this number of workers.
	least := time.Duration(b.calls.Total()) * added / workers
	t.Figure("of the least that latency allows", fmt.Sprintf("%.1f times", f.took().Seconds()/least.Seconds()),
		fmt.Sprintf("%d calls × %s / %d workers = %.2f s", b.calls.Total(), added, workers, least.Seconds()))
	calls(t, "AWS calls for each", b.calls, n, 4)
	b.tell(t, n, fewestWrites)
	return nil
}

// workers is the operator's default number of workers for each kind.
const workers = 10

func many(ofEach int, goal time.Duration) func(context.Context, *world, *fleet, *campaign.Results) error {
	return func(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
		all := mixed(f, ofEach)
		n := len(all)
		b, err := w.rise(ctx, f, all)
		if err != nil {
			return err
		}
		rate := fmt.Sprintf("%.0f a second; %s", float64(n)/f.took().Seconds(), spread(f))
		if goal > 0 {
			seconds(t, "all Ready after", f.took(), goal, rate)
		} else {
			t.Figure("all Ready after", fmt.Sprintf("%.4g s", f.took().Seconds()), rate)
		}
		calls(t, "AWS calls for each bucket", b.calls.Of("s3"), ofEach, 4)
		calls(t, "AWS calls for each queue", b.calls.Of("sqs"), ofEach, 4)
		b.tell(t, n, fewestWrites)
		if b.peak.Known {
			t.Goal("operator's peak resident memory", b.peak.Peak, 100, " MB", "")
		}
		return nil
	}
}

// buckets creates as many buckets as a large platform has.
func buckets(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
	const n = 10_000
	b, err := w.rise(ctx, f, objects(f, n, newBucket))
	if err != nil {
		return err
	}
	rate := fmt.Sprintf("%.0f a second; %s", float64(n)/f.took().Seconds(), spread(f))
	seconds(t, "all Ready after", f.took(), 120*time.Second, rate)
	calls(t, "AWS calls for each", b.calls, n, 4)
	b.tell(t, n, fewestWrites)
	if b.peak.Known {
		t.Goal("operator's peak resident memory", b.peak.Peak, 150, " MB", "")
	}
	return nil
}

// fewestWrites is the number of writes until a bucket or a queue is Ready: reservation, ControllerRevision, binding
// Secret, status.
const fewestWrites = 4

// tell adds the figures that every burst has. most is the goal for Kubernetes writes, or 0 for none.
func (b *burst) tell(t *campaign.Results, n int, most float64) {
	if each := float64(b.writes.total()) / float64(n); most > 0 {
		t.Goal("Kubernetes writes for each", each, most, "", b.writes.text(n))
	} else {
		t.Figure("Kubernetes writes for each", fmt.Sprintf("%.2f", each), b.writes.text(n))
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
	t.Figure("operator's CPU for each", each("operator"), "beside it: "+strings.Join(others, ", "))
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
	return fmt.Sprintf("each p50 %.2f s, p99 %.2f s", campaign.Percentile(waits, 0.5).Seconds(),
		campaign.Percentile(waits, 0.99).Seconds())
}
