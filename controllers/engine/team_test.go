package engine

import (
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/controllers/fair"
)

func TestAPassAndADeletionAreTheirTeamsWork(t *testing.T) {
	b := newBench(t, nil)
	b.pass(nil)
	obj := b.read()
	if err := b.client.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if _, err := b.loop.Reconcile(t.Context(), b.read()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"n", "n"}; !slices.Equal(b.work.teams, want) {
		t.Errorf("they counted as work of %q, want %q", b.work.teams, want)
	}
}

func TestControllersHaveAFairQueue(t *testing.T) {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)
	q, ok := Options{Workers: 7, Now: time.Now}.newQueue("test", limiter).(*fair.Queue)
	if !ok {
		t.Fatal("the queue is not ours")
	}
	defer q.ShutDown()
	if q.Workers != 7 || q.TeamOf("n") != "n" {
		t.Errorf("%d workers, team %q", q.Workers, q.TeamOf("n"))
	}
}
