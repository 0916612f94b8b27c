package operator

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/campaign"
)

// firstCall creates buckets one at a time, each once everything is at rest.
func firstCall(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
	const n = 100
	var (
		mu    sync.Mutex
		first = map[string]time.Time{} // by bucket
	)
	w.aws.OnCall(func(c fakeaws.Call) {
		mu.Lock()
		defer mu.Unlock()
		if _, seen := first[c.Resource]; !seen {
			first[c.Resource] = c.At
		}
	})
	defer w.aws.OnCall(nil)
	for _, o := range objects(f, n, newBucket) {
		if err := f.create(ctx, []resource{o}); err != nil {
			return err
		}
		if err := f.allReady(ctx); err != nil {
			return err
		}
	}
	mu.Lock()
	defer mu.Unlock()
	lags := lagsOf(f, first)
	if len(lags) != n {
		return fmt.Errorf("%d of %d buckets were asked for at AWS", len(lags), n)
	}
	ms := func(p float64) float64 { return float64(campaign.Percentile(lags, p).Microseconds()) / 1000 }
	t.Figure("p50", fmt.Sprintf("%.3g ms", ms(0.5)), "")
	t.Goal("p99", ms(0.99), 100, " ms", "")
	waits := f.waits()
	t.Figure("create to Ready", fmt.Sprintf("%.3g ms", float64(campaign.Percentile(waits, 0.5).Microseconds())/1000),
		fmt.Sprintf("p50; p99 %.3g ms", float64(campaign.Percentile(waits, 0.99).Microseconds())/1000))
	return nil
}

// lagsOf returns the time from each bucket's creation to the first AWS call for it.
func lagsOf(f *fleet, first map[string]time.Time) (lags []time.Duration) {
	for bucket, at := range first {
		// The generated name is <prefix>-<namespace>-<name>-<hash>. The operator also looks up the name without the
		// prefix; that call does not count.
		_, name, _ := strings.Cut(bucket, "-")
		name, picked := strings.CutPrefix(name, f.namespaces[0]+"-")
		if end := strings.LastIndexByte(name, '-'); picked && end > 0 {
			if sent, ok := f.created[key(&v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: name[:end]}})]; ok {
				lags = append(lags, at.Sub(sent))
			}
		}
	}
	return lags
}

// All clocks of an operator at rest run faster by the same factor: one second equals two minutes.
const (
	faster    = 120
	audits    = time.Hour / faster
	intervals = 3 // that are measured
)

var fastFlags = []string{
	"--audit-interval=" + audits.String(),
	"--sweep-interval=" + (5 * time.Minute / faster).String(),
	"--provider-resync=" + (5 * time.Minute / faster).String(),
}

// atRest restarts the operator with fast clocks and counts over whole audit intervals.
func atRest(ctx context.Context, w *world, f *fleet, t *campaign.Results) error {
	all := mixed(f, 500)
	n := len(all)
	if _, err := w.rise(ctx, f, all); err != nil {
		return err
	}
	if err := w.operator.Stop(); err != nil {
		return err
	}
	before, began := w.counts(), time.Now()
	if err := w.startOperator(ctx, fastFlags...); err != nil {
		return err
	}
	if err := w.lookedAtAll(ctx, before, n, "s3 GetBucketTagging", "sqs ListQueueTags"); err != nil {
		return err
	}
	t.Figure("restart: all looked at after", fmt.Sprintf("%.1f s", time.Since(began).Seconds()),
		callsText(w.counts().Since(before), n)+" calls for each")
	// The first interval is not counted: what the restart made due at the same time has spread out after it.
	return w.count(ctx, n, t)
}

// lookedAtAll waits until each of n resources was read by one of the operations, which is called once for each
// resource.
func (w *world) lookedAtAll(ctx context.Context, before fakeaws.Counts, n int, operations ...string) error {
	return w.Until(ctx, poll, "every resource to be read", func() error {
		seen, reads := w.counts().Since(before), 0
		for _, operation := range operations {
			reads += seen[operation].Calls
		}
		if reads < n {
			return fmt.Errorf("%d of %d were", reads, n)
		}
		return nil
	})
}

func (w *world) count(ctx context.Context, n int, t *campaign.Results) error {
	if err := campaign.Pause(ctx, audits); err != nil {
		return err
	}
	calls := w.counts()
	writes, err := w.kubernetesWrites(ctx)
	if err != nil {
		return err
	}
	busy, began := w.operator.Usage(), time.Now()
	if err := campaign.Pause(ctx, intervals*audits); err != nil {
		return err
	}
	seen, took := w.counts().Since(calls), time.Since(began)
	after, err := w.kubernetesWrites(ctx)
	if err != nil {
		return err
	}
	written, now := after.since(writes), w.operator.Usage()

	hours := took.Hours() * faster
	// Half of them are buckets, each of whose audits takes two calls.
	t.Goal("AWS calls for each resource-hour", float64(seen.Total())/float64(n)/hours, 1.8, "",
		fmt.Sprintf("%d calls / %d resources / %.2f h, which are %.1f s × %d", seen.Total(), n, hours, took.Seconds(),
			faster))
	t.Figure("of these", "", callsTextIn(seen, hours))
	t.Goal("AWS writes", float64(seen.Writes()), 0, "", "")
	t.Goal("Kubernetes writes", float64(written.total()), 0, "", written.text(1)+
		" (without the renewals of the leader's Lease)")
	if now.Known {
		t.Figure("operator's CPU", fmt.Sprintf("%.1f ms", (now.Busy-busy.Busy).Seconds()*1000/float64(n)/hours),
			"for each resource-hour")
		t.Figure("operator's peak resident memory", fmt.Sprintf("%.4g MB", now.Peak), "after a restart")
	}
	return nil
}

// callsTextIn lists calls by operation for each hour, over all resources.
func callsTextIn(c fakeaws.Counts, hours float64) string {
	return fmt.Sprintf("in an hour, over all: %s", strings.ReplaceAll(callsText(c, max(1, int(hours+0.5))), ".00", ""))
}
