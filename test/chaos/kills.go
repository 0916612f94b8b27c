package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/test/campaign"
)

const (
	// leastBetweenKills and mostBetweenKills limit the time between two kills, mostDown the downtime of a killed
	// process.
	leastBetweenKills, mostBetweenKills = 4 * time.Second, 14 * time.Second
	mostDown                            = 5 * time.Second
)

// blow is a disruption of the cluster.
type blow struct {
	name   string
	weight int
	strike func(w *world, ctx context.Context, lot *rand.Rand) error
}

var blows = []blow{
	{"operator", 6, func(w *world, ctx context.Context, lot *rand.Rand) error {
		return w.killOperator(ctx, time.Duration(lot.Int64N(int64(mostDown))))
	}},
	{"kube-apiserver", 3, (*world).killAPIServer},
	{"etcd", 3, killPart("etcd")},
	{"clock", 3, (*world).jump},
}

// killUntil kills processes and moves the operator's clock until ctx ends. Every process runs when it returns.
func (w *world) killUntil(ctx context.Context) error {
	lot := rand.New(rand.NewPCG(w.seed, 1<<41))
	next := func() {
		wait := leastBetweenKills + time.Duration(lot.Int64N(int64(mostBetweenKills-leastBetweenKills)))
		_ = campaign.Pause(ctx, wait) // the loop condition checks for the end
	}
	for next(); ctx.Err() == nil; next() {
		b := blows[weighted(lot, len(blows), func(i int) int { return blows[i].weight })]
		w.Say("%s  %s", time.Now().Format(time.TimeOnly), b.name)
		name, err := b.name, b.strike(w, ctx, lot)
		if errors.Is(err, errIdle) {
			name, err = name+" put off", nil
		}
		if err != nil {
			return fmt.Errorf("kill the %s: %w", name, err)
		}
		w.counts.add("kills", name)
	}
	return nil
}

// killAPIServer kills kube-apiserver when no namespace is being deleted. A kube-apiserver that has just started omits
// custom resources from discovery for a moment, without an error: the namespace controller would then delete the
// namespace and leave its custom resources behind.
func (w *world) killAPIServer(ctx context.Context, lot *rand.Rand) error {
	w.spaces.Lock()
	defer w.spaces.Unlock()
	for began := time.Now(); time.Since(began) < mostDown; _ = campaign.Pause(ctx, poll) {
		spaces := &corev1.NamespaceList{}
		if err := w.admin.List(ctx, spaces); err != nil {
			continue
		}
		if !slices.ContainsFunc(spaces.Items, func(n corev1.Namespace) bool { return n.DeletionTimestamp != nil }) {
			w.apiServerBegan = time.Now().Add(mostDown)
			return killPart("kube-apiserver")(w, ctx, lot)
		}
	}
	return errIdle
}

// killPart returns a function that kills a part of the control plane and starts it again.
func killPart(name string) func(*world, context.Context, *rand.Rand) error {
	return func(w *world, ctx context.Context, lot *rand.Rand) error {
		part := w.Part(name)
		if err := part.Kill(); err != nil {
			return err
		}
		_ = campaign.Pause(ctx, time.Duration(lot.Int64N(int64(mostDown))))
		return part.Start(context.WithoutCancel(ctx))
	}
}

var jumps = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour}

// jump moves the operator's clock, forwards or backwards. AWS shows every change at once meanwhile: an operator whose
// clock jumps ahead cannot wait long enough for a change that AWS does not show yet.
func (w *world) jump(ctx context.Context, lot *rand.Rand) error {
	by := pick(lot, jumps)
	if w.operator.offset > 0 && lot.IntN(4) > 0 {
		by = -by
	} else if lot.IntN(3) == 0 {
		by = -by
	}
	defer w.calm()()
	if err := w.operator.setClock(w.operator.offset + by); err != nil {
		return err
	}
	_ = campaign.Pause(ctx, longestLag)
	return nil
}

// storm runs users, faults and kills at the same time, for the duration of the campaign.
func (w *world) storm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.duration)
	defer cancel()
	var loose sync.WaitGroup
	loose.Go(func() { w.actUntil(ctx) })
	loose.Go(func() { w.faultUntil(ctx) })
	var failed error
	loose.Go(func() {
		if failed = w.killUntil(ctx); failed != nil {
			cancel()
		}
	})
	select {
	case <-ctx.Done():
	case <-w.Failed():
		cancel()
	}
	loose.Wait()
	if errors.Is(ctx.Err(), context.Canceled) && failed == nil && w.Err() == nil {
		failed = ctx.Err() // Ctrl-C
	}
	return errors.Join(failed, w.Err())
}
