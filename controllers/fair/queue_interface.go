package fair

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Add implements workqueue.TypedInterface.
func (q *Queue) Add(key reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, key) }

// AddAfter implements workqueue.TypedDelayingInterface.
func (q *Queue) AddAfter(key reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, key)
}

// AddRateLimited implements workqueue.TypedRateLimitingInterface.
func (q *Queue) AddRateLimited(key reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, key)
}

// Get implements workqueue.TypedInterface.
func (q *Queue) Get() (reconcile.Request, bool) {
	key, _, shutdown := q.GetWithPriority()
	return key, shutdown
}

// Forget implements workqueue.TypedRateLimitingInterface.
func (q *Queue) Forget(key reconcile.Request) { q.RateLimiter.Forget(key) }

// NumRequeues implements workqueue.TypedRateLimitingInterface.
func (q *Queue) NumRequeues(key reconcile.Request) int { return q.RateLimiter.NumRequeues(key) }

// Len returns how many keys wait for a worker, without the delayed ones.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) - len(q.delayed)
}

// ShuttingDown implements workqueue.TypedInterface.
func (q *Queue) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shut
}

// ShutDownWithDrain does what ShutDown does, as in controller-runtime's queue: its controllers wait for their workers
// themselves.
func (q *Queue) ShutDownWithDrain() { q.ShutDown() }

// delays implements heap.Interface, ordered by the time at which items become ready.
type delays []*item

func (d delays) Len() int           { return len(d) }
func (d delays) Less(i, j int) bool { return d[i].readyAt.Before(d[j].readyAt) }

func (d delays) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

func (d *delays) Push(x any) {
	it := x.(*item)
	it.index = len(*d)
	*d = append(*d, it)
}

func (d *delays) Pop() any {
	last := len(*d) - 1
	it := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	it.index = -1
	return it
}
