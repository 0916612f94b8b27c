package fair

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// askedFor is how many turns in a row go to requested keys while others wait, such as polls, audits and keys of the
// initial list: these make progress however much one team requests.
const askedFor = 3

// Extra returns the number of workers beyond the configured ones, for teams that have no pass under way.
func Extra(workers int) int { return (workers + 1) / 2 }

// QueueOptions are the parameters of a Queue.
type QueueOptions struct {
	Name string // in metrics
	// Workers is the maximum number of passes under way, except for Extra more for teams with none under way.
	Workers     int
	TeamOf      func(namespace string) string
	RateLimiter workqueue.TypedRateLimiter[reconcile.Request]
	Now         func() time.Time
}

// Queue is the queue in front of the workers of a kind. Like controller-runtime's queue it holds each key once, never
// hands a key out twice at a time, and has delays and priorities. In addition teams take turns: the next pass is for
// the team with the fewest passes under way, and among equals the one served least recently. Priorities order the
// objects of one team; between teams only requested (0 and above) and not requested (below 0) differ. See ADR 40.
type Queue struct {
	QueueOptions
	metrics queueMetrics

	mu       sync.Mutex
	changed  *sync.Cond
	items    map[reconcile.Request]*item // waiting or delayed
	delayed  delays
	timer    *time.Timer // fires for the first delayed item
	asked    Ring[*item]
	rest     Ring[*item]
	inARow   int // consecutive turns of asked while rest had items
	running  map[reconcile.Request]run
	busy     map[string]int // passes under way by team
	shut     bool
	finished chan struct{} // closed when shut
}

// item is a waiting key. It is in delayed, or in a ring, or it enters a ring when the running pass of its key ends.
type item struct {
	key      reconcile.Request
	priority int
	readyAt  time.Time // of a delayed item
	index    int       // in delays; -1 if not delayed
	since    time.Time // when it became ready
	ring     *Ring[*item]
	entry    *Entry[*item]
}

// run is a pass under way. It stays counted for the team it started with, even if its namespace changes teams.
type run struct {
	team  string
	began time.Time
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = &Queue{}

// NewQueue returns an empty queue. Its goroutine runs until ShutDown.
func NewQueue(o QueueOptions) *Queue {
	o.Workers = max(o.Workers, 1)
	q := &Queue{
		QueueOptions: o, metrics: newQueueMetrics(o.Name),
		items: map[reconcile.Request]*item{}, running: map[reconcile.Request]run{}, busy: map[string]int{},
		finished: make(chan struct{}),
	}
	q.changed = sync.NewCond(&q.mu)
	go q.tell()
	return q
}

// AddWithOpts implements priorityqueue.PriorityQueue. A key that is already waiting gets the earlier time and the
// higher priority of the two.
func (q *Queue) AddWithOpts(o priorityqueue.AddOpts, keys ...reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shut {
		return
	}
	for _, key := range keys {
		priority, after := 0, o.After
		if o.Priority != nil {
			priority = *o.Priority
		}
		if o.RateLimited {
			if d := q.RateLimiter.When(key); after == 0 || d < after {
				after = d
			}
		}
		if after > 0 {
			q.metrics.retries.Inc()
		}
		q.add(key, priority, after)
	}
	q.setTimer()
	q.changed.Broadcast()
}

func (q *Queue) add(key reconcile.Request, priority int, after time.Duration) {
	readyAt := q.Now().Add(after)
	it := q.items[key]
	if it == nil {
		it = &item{key: key, priority: priority, readyAt: readyAt, index: -1}
		q.items[key] = it
		if after > 0 {
			heap.Push(&q.delayed, it)
		} else {
			q.ready(it)
		}
		return
	}
	raised := priority > it.priority
	it.priority = max(priority, it.priority)
	switch {
	case it.index >= 0 && after <= 0:
		heap.Remove(&q.delayed, it.index)
		q.ready(it)
	case it.index >= 0 && readyAt.Before(it.readyAt):
		it.readyAt = readyAt
		heap.Fix(&q.delayed, it.index)
	case it.ring != nil && raised && it.ring == q.ringOf(it.priority):
		it.ring.Raise(it.entry, it.priority)
	case it.ring != nil && raised:
		it.ring.Remove(it.entry)
		q.enter(it)
	}
}

func (q *Queue) ringOf(priority int) *Ring[*item] {
	if priority >= 0 {
		return &q.asked
	}
	return &q.rest
}

// ready marks it as waiting for a worker. It enters a ring now, or after the running pass of its key.
func (q *Queue) ready(it *item) {
	it.since = q.Now()
	q.metrics.added()
	if _, running := q.running[it.key]; !running {
		q.enter(it)
	}
}

// enter puts it into the ring of its priority, under its current team.
func (q *Queue) enter(it *item) {
	it.ring = q.ringOf(it.priority)
	it.entry = &Entry[*item]{Value: it, Team: q.TeamOf(it.key.Namespace), Priority: it.priority}
	it.ring.Add(it.entry)
}

// GetWithPriority implements priorityqueue.PriorityQueue: it blocks until a worker can start the next key, and returns
// that key.
func (q *Queue) GetWithPriority() (key reconcile.Request, priority int, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.shut {
			return key, 0, true
		}
		if e := q.next(); e != nil {
			it := e.Value
			now := q.Now()
			delete(q.items, it.key)
			q.running[it.key] = run{team: e.Team, began: now}
			q.busy[e.Team]++
			q.metrics.got(now.Sub(it.since))
			return it.key, it.priority, false
		}
		q.changed.Wait()
	}
}

// next removes and returns the entry whose turn it is, or nil if none can start.
func (q *Queue) next() *Entry[*item] {
	first, second := &q.asked, &q.rest
	if q.inARow >= askedFor {
		first, second = second, first
	}
	for _, ring := range []*Ring[*item]{first, second} {
		e := ring.Next(func(team string) int { return q.busy[team] })
		if e == nil || !q.mayStart(e.Team) { // no other team in this ring can start: none has fewer under way
			continue
		}
		if ring == &q.asked && q.rest.Len() > 0 {
			q.inARow++
		} else {
			q.inARow = 0
		}
		ring.Take(e)
		return e
	}
	return nil
}

// mayStart reports whether a worker is free for one more pass of the team.
func (q *Queue) mayStart(team string) bool {
	if len(q.running) < q.Workers {
		return true
	}
	return q.busy[team] == 0 && len(q.running) < q.Workers+Extra(q.Workers)
}

// Done implements workqueue.TypedInterface.
func (q *Queue) Done(key reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r, ok := q.running[key]
	if !ok {
		return
	}
	delete(q.running, key)
	if q.busy[r.team]--; q.busy[r.team] == 0 {
		delete(q.busy, r.team)
	}
	q.metrics.work.Observe(q.Now().Sub(r.began).Seconds())
	if it := q.items[key]; it != nil && it.index < 0 {
		q.enter(it)
	}
	q.changed.Broadcast()
}

// setTimer sets the timer to the first delayed item.
func (q *Queue) setTimer() {
	if len(q.delayed) == 0 || q.shut {
		return
	}
	d := q.delayed[0].readyAt.Sub(q.Now())
	if q.timer == nil {
		q.timer = time.AfterFunc(d, q.wake)
		return
	}
	q.timer.Reset(d)
}

// wake moves the items whose delay has ended to ready.
func (q *Queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for now := q.Now(); len(q.delayed) > 0 && !q.delayed[0].readyAt.After(now); {
		q.ready(heap.Pop(&q.delayed).(*item))
	}
	q.setTimer()
	q.changed.Broadcast()
}

// ShutDown implements workqueue.TypedInterface: no key is handed out afterwards.
func (q *Queue) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shut {
		return
	}
	q.shut = true
	close(q.finished)
	if q.timer != nil {
		q.timer.Stop()
	}
	q.changed.Broadcast()
}
