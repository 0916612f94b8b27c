package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/campaign"
)

const (
	fairObjects  = 10_000 // of the busy team
	fairTries    = 50     // buckets of the other team, one at a time
	fairLatency  = 30 * time.Millisecond
	annotatedPer = 20 * time.Millisecond // interval of the annotation loop
	// fairPause is the time between two buckets. Without it the team exceeds its share of a low rate, and the benchmark
	// would measure the share.
	fairPause = 500 * time.Millisecond
	// aloneFrom and besideFrom number the second team's buckets; the first team's numbers never reach them.
	aloneFrom, besideFrom = 20_000, 30_000
)

// fairShare measures how long a team's single bucket takes, first alone, then next to another team that creates 10,000
// buckets and annotates them in a loop.
func fairShare(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
	few := f.namespaces[0]
	others, err := w.makeNamespaces(ctx, few+"-many", 0)
	if err != nil {
		return err
	}
	w.aws.SetLatency(fairLatency)
	calls := &callsByTeam{}
	w.aws.OnCall(calls.note)
	defer w.aws.OnCall(nil)
	alone, _, err := oneByOne(ctx, f, few, aloneFrom, calls)
	if err != nil {
		return err
	}
	tellTimes(t, "alone", alone, "")

	all := make([]resource, fairObjects)
	for i := range all {
		all[i] = newBucket(others[0], i)
	}
	if err := w.besideMany(ctx, f, all, alone, calls, t); err != nil {
		return err
	}
	return w.remove(ctx, all)
}

// besideMany creates the other team's objects and repeats the measurement next to them.
func (w *world) besideMany(ctx context.Context, f *fleet, all []resource, alone []time.Duration, calls *callsByTeam,
	t *campaign.Results,
) error {
	began := time.Now()
	if err := eachAtOnce(all, func(o resource) error { return w.Kube.Create(ctx, o) }); err != nil {
		return fmt.Errorf("create the other team's: %w", err)
	}
	before, err := w.progressOf(ctx, all[0].GetNamespace())
	if err != nil {
		return err
	}
	t.Figure("beside it begins", fmt.Sprintf("%d waiting", before.queued),
		fmt.Sprintf("%d of the other team's were created in %.0f s, and %d are Ready by then", fairObjects,
			time.Since(began).Seconds(), before.ready))
	annotations, stop := w.annotate(ctx, all)
	began = time.Now()
	beside, between, err := oneByOne(ctx, f, f.namespaces[0], besideFrom, calls)
	took := time.Since(began)
	if err := errors.Join(err, stop()); err != nil {
		tellTimes(t, "beside it, until it failed", beside, "")
		return err
	}
	after, err := w.progressOf(ctx, all[0].GetNamespace())
	if err != nil {
		return err
	}
	tellTimes(t, "beside it", beside, fmt.Sprintf("the other team meanwhile: %.1f passes a second, %d annotated, %d "+
		"more Ready, %d waiting at the end",
		float64(after.passes-before.passes-fairTries)/took.Seconds(), annotations.Load(), after.ready-before.ready,
		after.queued))
	t.Goal("beside it, of the time alone, p99", ratio(beside, alone, .99), 2, "",
		fmt.Sprintf("p50 %.2f", ratio(beside, alone, .5)))
	slices.Sort(between)
	t.Figure("the other team's AWS calls before the first of its own", fmt.Sprint(between[len(between)/2]),
		fmt.Sprintf("p50; most %d; from the request on, which the API server answers first", between[len(between)-1]))
	return nil
}

// eachAtOnce calls do for each object, with limited concurrency.
func eachAtOnce(all []resource, do func(resource) error) error {
	g := &errgroup.Group{}
	g.SetLimit(creators)
	for _, o := range all {
		g.Go(func() error { return do(o) })
	}
	return g.Wait()
}

// remove deletes the other team's objects and waits until they are gone, so that they do not affect the next scenario.
func (w *world) remove(ctx context.Context, all []resource) error {
	w.aws.SetLatency(0)
	if err := eachAtOnce(all, func(o resource) error {
		return client.IgnoreNotFound(w.Kube.Delete(ctx, o))
	}); err != nil {
		return fmt.Errorf("delete the other team's: %w", err)
	}
	return w.Until(ctx, time.Second, "the other team's to be gone", func() error {
		left := &v1alpha1.S3BucketList{}
		err := w.Kube.List(ctx, left, client.InNamespace(all[0].GetNamespace()), client.Limit(1))
		if err == nil && len(left.Items) > 0 {
			err = errors.New("some are still there")
		}
		return err
	})
}

func ratio(a, b []time.Duration, p float64) float64 {
	return campaign.Percentile(a, p).Seconds() / campaign.Percentile(b, p).Seconds()
}

func tellTimes(t *campaign.Results, what string, took []time.Duration, detail string) {
	if len(took) == 0 {
		return
	}
	text := fmt.Sprintf("p50 of %d; p99 %.0f ms", len(took), campaign.Percentile(took, .99).Seconds()*1000)
	if detail != "" {
		text += "; " + detail
	}
	t.Figure("one bucket "+what, fmt.Sprintf("%.0f ms", campaign.Percentile(took, .5).Seconds()*1000), text)
}

// oneByOne creates buckets, each once the previous one is Ready. It returns how long each took, and how many AWS calls
// for other buckets preceded its first call.
func oneByOne(ctx context.Context, f *fleet, namespace string, from int, calls *callsByTeam) (
	took []time.Duration, between []int, err error,
) {
	for i := range fairTries {
		o := newBucket(namespace, from+i)
		calls.expect("-" + namespace + "-" + o.GetName() + "-") // part of the generated bucket name
		if err := f.create(ctx, []resource{o}); err != nil {
			return took, between, err
		}
		if err := f.await(ctx, func() bool { return !f.ready[key(o)].IsZero() }); err != nil {
			return took, between, fmt.Errorf("%s, number %d, did not become Ready: %w", o.GetName(), i+1, err)
		}
		f.mu.Lock()
		took = append(took, f.ready[key(o)].Sub(f.created[key(o)]))
		f.mu.Unlock()
		between = append(between, calls.others())
		if err := campaign.Pause(ctx, fairPause); err != nil {
			return took, between, err
		}
	}
	return took, between, nil
}

// callsByTeam counts the AWS calls before the first call for the expected bucket.
type callsByTeam struct {
	mu     sync.Mutex
	part   string // of the bucket's name
	before int
	came   bool
}

func (c *callsByTeam) expect(part string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.part, c.before, c.came = part, 0, false
}

func (c *callsByTeam) note(call fakeaws.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.came = c.came || strings.Contains(call.Resource, c.part)
	if !c.came {
		c.before++
	}
}

func (c *callsByTeam) others() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.before
}

// fairProgress is the progress of the busy team: Ready buckets, queue depth and reconciles.
type fairProgress struct{ ready, queued, passes int }

func (w *world) progressOf(ctx context.Context, namespace string) (p fairProgress, err error) {
	samples, err := w.operator.Samples(ctx)
	if err != nil {
		return p, err
	}
	buckets := func(l map[string]string) bool { return l["controller"] == "s3bucket" }
	p.queued, p.passes = int(samples.Sum("workqueue_depth", buckets)),
		int(samples.Sum("controller_runtime_reconcile_total", buckets))
	all := &v1alpha1.S3BucketList{}
	if err := w.Kube.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return p, fmt.Errorf("list the other team's: %w", err)
	}
	for i := range all.Items {
		if all.Items[i].Status.Ready {
			p.ready++
		}
	}
	return p, nil
}

// annotate requests reconciles of the objects in turn, in a loop, until stop is called; stop returns the loop's error.
func (w *world) annotate(ctx context.Context, all []resource) (done *atomic.Int64, stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done = &atomic.Int64{}
	loop := &errgroup.Group{}
	loop.Go(func() error {
		for i := 0; ctx.Err() == nil; i = (i + 1) % len(all) {
			err := w.wake(ctx, all[i], time.Now().Format(time.RFC3339Nano))
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("annotate: %w", err)
			}
			done.Add(1)
			_ = campaign.Pause(ctx, annotatedPer) // the loop condition checks for the end
		}
		return nil
	})
	return done, func() error {
		cancel()
		return loop.Wait()
	}
}
