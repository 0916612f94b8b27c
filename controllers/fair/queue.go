package fair

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// askedFor is how many turns in a row go to what was asked for while something else waits, such as polls, audits and
// what is listed at the start: that goes on too, however much one team asks for.
const askedFor = 3

// Extra returns how many workers there are beside those of the setting, for teams of which no pass is under way.
func Extra(workers int) int { return (workers + 1) / 2 }

// QueueOptions are what a Queue is made of.
type QueueOptions struct {
	Name string // in metrics
	// Workers is how many passes are under way at most, but for Extra of them for teams of which there is none.
	Workers     int
	TeamOf      func(namespace string) string
	RateLimiter workqueue.TypedRateLimiter[reconcile.Request]
	Now         func() time.Time
}

// Queue is the queue in front of the workers of a kind. It does what controller-runtime's does (each key once, none
// handed out twice at a time, delays, priorities), and lets teams take turns: the next pass is of the team with the
// fewest under way, and of those the one that was served least recently. Priorities order the objects of one team;
// among teams only asked for (0 and more) and not asked for (less) differ. See ADR 40.
type Queue struct {
	QueueOptions
	metrics queueMetrics

	mu       sync.Mutex
	changed  *sync.Cond
	items    map[reconcile.Request]*item // that wait, or are to
	delayed  delays
	timer    *time.Timer // of the first that is delayed
	asked    Ring[*item]
	rest     Ring[*item]
	inARow   int // turns of asked while rest waited
	running  map[reconcile.Request]run
	busy     map[string]int // passes under way by team
	shut     bool
	finished chan struct{} // closed when shut
}

// item is a key that waits. It is delayed, or in a ring, or its key is running and it comes into a ring after that.
type item struct {
	key      reconcile.Request
	priority int
	readyAt  time.Time // of one that is delayed
	index    int       // in delays; -1 if not delayed
	since    time.Time // it is ready
	ring     *Ring[*item]
	entry    *Entry[*item]
}

// run is a pass under way. It keeps its team, whatever becomes of its namespace.
type run struct {
	team  string
	began time.Time
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = &Queue{}

// NewQueue returns an empty queue, which runs until ShutDown.
func NewQueue(o QueueOptions) *Queue {
	o.Workers = max(o.Workers, 1)
	q := &Queue{
		QueueOptions: o, metrics: newQueueMetrics(o.Name),
		items: map[reconcile.Request]*item{}, running: map[reconcile.Request]run{}, busy: map[string]int{}, finished: make(chan struct{}),
	}
	q.changed = sync.NewCond(&q.mu)
	go q.tell()
	return q
}

// AddWithOpts implements priorityqueue.PriorityQueue. A key that waits already is due at the earlier time, with the
// higher priority.
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

// ready makes it wait for a worker.
func (q *Queue) ready(it *item) {
	it.since = q.Now()
	q.metrics.added()
	if _, running := q.running[it.key]; !running {
		q.enter(it)
	}
}

// enter puts it into the ring of its priority, with the team that it has now.
func (q *Queue) enter(it *item) {
	it.ring = q.ringOf(it.priority)
	it.entry = &Entry[*item]{Value: it, Team: q.TeamOf(it.key.Namespace), Priority: it.priority}
	it.ring.Add(it.entry)
}

// GetWithPriority implements priorityqueue.PriorityQueue: it returns what is next once there is a worker for it.
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

// next takes the entry whose turn it is; nil if there is none that may start.
func (q *Queue) next() *Entry[*item] {
	first, second := &q.asked, &q.rest
	if q.inARow >= askedFor {
		first, second = second, first
	}
	for _, ring := range []*Ring[*item]{first, second} {
		e := ring.Next(func(team string) int { return q.busy[team] })
		if e == nil || !q.mayStart(e.Team) { // then nobody in this ring may: others have no fewer under way
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

// mayStart reports whether there is a worker for one more pass of the team.
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

// setTimer sets the timer to the first that is delayed.
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

// wake makes those ready whose delay is over.
func (q *Queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for now := q.Now(); len(q.delayed) > 0 && !q.delayed[0].readyAt.After(now); {
		q.ready(heap.Pop(&q.delayed).(*item))
	}
	q.setTimer()
	q.changed.Broadcast()
}

// ShutDown implements workqueue.TypedInterface: nothing is handed out any more.
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
