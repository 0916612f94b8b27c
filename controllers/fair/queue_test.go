package fair

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func key(team string, i int) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: team, Name: fmt.Sprint(i)}}
}

func keys(team string, n int) []reconcile.Request {
	all := make([]reconcile.Request, n)
	for i := range all {
		all[i] = key(team, i)
	}
	return all
}

// newTestQueue returns a queue in which namespaces such as a-1 belong to team a.
func newTestQueue(t *testing.T, workers int) *Queue {
	t.Helper()
	q := NewQueue(QueueOptions{
		Name: t.Name(), Workers: workers, Now: time.Now,
		TeamOf: func(namespace string) string {
			team, _, _ := strings.Cut(namespace, "-")
			return team
		},
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute),
	})
	t.Cleanup(q.ShutDown)
	return q
}

func priority(p int) priorityqueue.AddOpts { return priorityqueue.AddOpts{Priority: &p} }

// pass gets a key and marks it done.
func pass(t *testing.T, q *Queue) reconcile.Request {
	t.Helper()
	got, _, shutdown := q.GetWithPriority()
	if shutdown {
		t.Fatal("the queue is shut")
	}
	q.Done(got)
	return got
}

// turnsUntil counts the turns up to and including one for the namespace.
func turnsUntil(t *testing.T, q *Queue, namespace string) int {
	t.Helper()
	for n := 1; ; n++ {
		if pass(t, q).Namespace == namespace {
			return n
		}
	}
}

// This is the bound promised to teams: one turn of each other waiting team.
func TestATeamWaitsForOneTurnOfEachOther(t *testing.T) {
	q := newTestQueue(t, 10)
	q.AddWithOpts(priorityqueue.AddOpts{}, keys("a-1", 10_000)...)
	for range 100 {
		pass(t, q)
	}
	for _, other := range []string{"c", "d", "e"} {
		q.AddWithOpts(priorityqueue.AddOpts{}, keys(other, 500)...)
	}
	q.Add(key("b", 0))
	if n := turnsUntil(t, q, "b"); n > 5 {
		t.Errorf("its only object came at turn %d of 10,000", n)
	}
	q.Add(key("a-2", 0)) // another namespace of the same team waits with it
	if n := turnsUntil(t, q, "a-2"); n < 1000 {
		t.Errorf("a team with two namespaces has two shares: turn %d", n)
	}
}

func TestAnAnnotationLoopSlowsItsOwnTeamOnly(t *testing.T) {
	q := newTestQueue(t, 10)
	q.AddWithOpts(priorityqueue.AddOpts{}, keys("a", 1000)...)
	for i := range 50 {
		q.Add(key("b", i))
		for n := 1; ; n++ {
			got := pass(t, q)
			if got.Namespace == "b" {
				break
			}
			if n > 1 {
				t.Fatalf("bucket %d waited for %d turns of the other team", i, n)
			}
			q.Add(got)              // annotated again as soon as it was reconciled
			q.Add(key("a", n*7%99)) // and others
		}
	}
}

// A team with occasional requests is served before one that was served more recently.
func TestWhoWasServedLongerAgoGoesFirst(t *testing.T) {
	q := newTestQueue(t, 10)
	q.AddWithOpts(priorityqueue.AddOpts{}, keys("a", 100)...)
	q.Add(key("b", 0))
	turnsUntil(t, q, "b")
	turnsUntil(t, q, "a")
	q.Add(key("b", 0))
	if n := turnsUntil(t, q, "b"); n != 1 {
		t.Errorf("it came at turn %d", n)
	}
}

// A team whose key is added again at once gets no more turns than one with a backlog.
func TestComingBackGivesNoAdvantage(t *testing.T) {
	q := newTestQueue(t, 10)
	q.AddWithOpts(priorityqueue.AddOpts{}, keys("a", 1000)...)
	q.Add(key("b", 0))
	count := map[string]int{}
	for range 1000 {
		got := pass(t, q)
		count[got.Namespace]++
		if got.Namespace == "b" {
			q.Add(got)
		}
	}
	if count["a"] < 499 || count["b"] < 499 {
		t.Errorf("turns %v, want half for each", count)
	}
}

// Polls and audits of one team proceed while another has a backlog of requests, and take no more than their share of
// turns.
func TestPollsGoOnBesideABacklog(t *testing.T) {
	q := newTestQueue(t, 10)
	q.AddWithOpts(priorityqueue.AddOpts{}, keys("a", 10_000)...)
	q.AddWithOpts(priority(-100), keys("c", 10_000)...) // a restart
	q.AddWithOpts(priority(-200), key("b", 0))          // it is being created, and polled
	if n := turnsUntil(t, q, "b"); n > 2*(askedFor+1) {
		t.Errorf("the poll came at turn %d", n)
	}
	count := map[string]int{}
	for range 4000 {
		count[pass(t, q).Namespace]++
	}
	if count["a"] != 3000 || count["c"] != 1000 {
		t.Errorf("turns %v, want one of four for what nobody asked for", count)
	}
}

func TestPrioritiesOrderTheObjectsOfATeam(t *testing.T) {
	q := newTestQueue(t, 1)
	q.AddWithOpts(priority(-200), key("a", 1), key("a", 2))
	q.AddWithOpts(priority(-100), key("a", 3))
	q.AddWithOpts(priority(0), key("a", 4))
	q.AddWithOpts(priority(5), key("a", 5))
	q.AddWithOpts(priority(0), key("a", 2)) // a request for a key that waits for its poll
	var got []string
	for range 5 {
		got = append(got, pass(t, q).Name)
	}
	if want := []string{"5", "4", "2", "3", "1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A team alone has all configured workers; other teams get one at once, even if its passes never end.
func TestSlowPassesOfOneTeamLeaveWorkersForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(t, 10)
		got := make(chan reconcile.Request, 100)
		for range 10 + Extra(10) {
			go func() { // a pass that never ends
				if k, _, shutdown := q.GetWithPriority(); !shutdown {
					got <- k
				}
			}()
		}
		q.AddWithOpts(priorityqueue.AddOpts{}, keys("a", 100)...)
		synctest.Wait()
		if len(got) != 10 {
			t.Errorf("a team alone has %d workers", len(got))
		}
		for _, other := range []string{"b", "c"} {
			q.AddWithOpts(priorityqueue.AddOpts{}, keys(other, 100)...)
		}
		synctest.Wait()
		if len(got) != 12 {
			t.Fatalf("%d passes, want one more for each of two teams", len(got))
		}
		for i := range 10 { // the slow ones end one by one: their workers go to the team with fewer under way
			q.Done(key("a", i))
			go func() {
				if k, _, shutdown := q.GetWithPriority(); !shutdown {
					got <- k
				}
			}()
			synctest.Wait()
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		for team, n := range q.busy {
			if n < 3 || n > 4 {
				t.Errorf("team %s has %d of 10 workers, of three teams", team, n)
			}
		}
	})
}

func TestAKeyIsPassedOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newTestQueue(t, 10)
		q.Add(key("a", 1))
		first, _, _ := q.GetWithPriority()
		q.Add(first)
		q.AddAfter(first, time.Hour)
		again := make(chan struct{})
		go func() {
			_, _, _ = q.GetWithPriority()
			close(again)
		}()
		synctest.Wait()
		select {
		case <-again:
			t.Fatal("it was handed out while it was under way")
		default:
		}
		if q.Len() != 1 {
			t.Errorf("%d wait", q.Len())
		}
		q.Done(first)
		<-again
		q.Done(first)
		if q.Len() != 0 {
			t.Errorf("%d wait: it was asked for once more only", q.Len())
		}
	})
}

func TestDelaysAndBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, start := newTestQueue(t, 10), time.Now()
		q.AddAfter(key("a", 1), time.Hour)
		q.AddAfter(key("a", 2), time.Minute)
		q.AddAfter(key("a", 1), 2*time.Hour) // the earlier time wins
		q.AddRateLimited(key("a", 3))
		q.AddRateLimited(key("a", 4))
		q.Add(key("a", 4)) // a request does not wait for the back-off
		for _, want := range []struct {
			name  string
			after time.Duration
		}{{"4", 0}, {"3", time.Second}, {"2", time.Minute}, {"1", time.Hour}} {
			if got := pass(t, q); got.Name != want.name || time.Since(start) != want.after {
				t.Errorf("got %s after %s, want %+v", got.Name, time.Since(start), want)
			}
		}
		q.AddRateLimited(key("a", 3))
		if n := q.NumRequeues(key("a", 3)); n != 2 {
			t.Errorf("%d failures", n)
		}
		q.Forget(key("a", 3))
		if n := q.NumRequeues(key("a", 3)); n != 0 {
			t.Errorf("%d failures after it went well", n)
		}
	})
}

func TestItTellsOfTeamsWithoutNamingThem(t *testing.T) {
	q := newTestQueue(t, 2)
	q.AddWithOpts(priorityqueue.AddOpts{}, keys("a", 10)...)
	q.AddWithOpts(priority(-200), keys("a-2", 5)...)
	q.AddWithOpts(priority(-200), keys("b", 3)...)
	q.AddAfter(key("c", 1), time.Hour)
	pass(t, q)
	q.tellOnce()
	for name, want := range map[string]float64{
		"portico_queue_waiting_teams": 2, "portico_queue_largest_backlog": 14,
		"workqueue_depth": 17,
	} {
		if got := gauge(t, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// gauge returns the value of the test's queue.
func gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == name && l.GetName() == "controller" && l.GetValue() == t.Name() {
					return m.GetGauge().GetValue()
				}
			}
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

func TestAQueueThatIsShutHandsOutNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, done := newTestQueue(t, 10), make(chan bool)
		go func() {
			_, shutdown := q.Get()
			done <- shutdown
		}()
		synctest.Wait()
		q.AddAfter(key("a", 1), time.Minute)
		q.ShutDownWithDrain()
		q.ShutDown()
		q.Add(key("a", 2))
		if gone := <-done; !gone {
			t.Error("Get() returns an item, want the end")
		}
		if !q.ShuttingDown() || q.Len() != 0 {
			t.Errorf("ShuttingDown() = %v, Len() = %d, want true, 0", q.ShuttingDown(), q.Len())
		}
		time.Sleep(time.Hour)
		if _, shutdown := q.Get(); !shutdown {
			t.Error("it hands out what was delayed")
		}
	})
}
