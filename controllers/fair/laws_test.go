package fair

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// model is the expected state of a queue: the requested keys that were not handed out since, the passes under way, and,
// for each waiting team with no pass under way, the number of turns each other team has had meanwhile.
type model struct {
	q       *Queue
	wanted  map[reconcile.Request]int // priority
	running map[reconcile.Request]bool
	waited  map[string]map[string]int // by waiting team: turns by other team
}

func (m *model) add(k reconcile.Request, p int) {
	if old, ok := m.wanted[k]; ok {
		p = max(old, p)
	}
	m.wanted[k] = p
	m.q.AddWithOpts(priorityqueue.AddOpts{Priority: &p}, k)
}

func (m *model) busy(team string) (n int) {
	for k := range m.running {
		if k.Namespace == team {
			n++
		}
	}
	return n
}

// mayStart reports whether Get would return.
func (m *model) mayStart() bool {
	for k := range m.wanted {
		most := m.q.Workers
		if m.busy(k.Namespace) == 0 {
			most += Extra(m.q.Workers)
		}
		if !m.running[k] && len(m.running) < most {
			return true
		}
	}
	return false
}

func (m *model) get(t *rapid.T) {
	k, p, _ := m.q.GetWithPriority()
	want, ok := m.wanted[k]
	switch {
	case !ok:
		t.Fatalf("%s was handed out, and nobody asked for it", k)
	case m.running[k]:
		t.Fatalf("%s was handed out while it was under way", k)
	case p != want:
		t.Fatalf("%s has priority %d, want %d", k, p, want)
	case len(m.running) >= m.q.Workers && m.busy(k.Namespace) > 0:
		t.Fatalf("team %s got a worker that is for others", k.Namespace)
	}
	delete(m.wanted, k)
	m.running[k] = true
	m.note(t, k.Namespace, p)
}

// note adds a turn of the served team to every team that has requested keys waiting and no pass under way.
func (m *model) note(t *rapid.T, served string, p int) {
	delete(m.waited, served)
	waiting := map[string]bool{}
	for k, priority := range m.wanted {
		if priority >= 0 && m.busy(k.Namespace) == 0 {
			waiting[k.Namespace] = true
		}
	}
	maps.DeleteFunc(m.waited, func(team string, _ map[string]int) bool { return !waiting[team] })
	for team := range waiting {
		if m.waited[team] == nil {
			m.waited[team] = map[string]int{}
		}
		if p < 0 {
			continue
		}
		if m.waited[team][served]++; m.waited[team][served] > 1 {
			t.Fatalf("team %s had two turns while %s waited", served, team)
		}
	}
}

func (m *model) done(k reconcile.Request) {
	m.q.Done(k)
	delete(m.running, k)
}

func TestQueueLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{
			wanted: map[reconcile.Request]int{}, running: map[reconcile.Request]bool{},
			waited: map[string]map[string]int{},
			q: NewQueue(QueueOptions{
				Name: "laws", Workers: rapid.IntRange(1, 4).Draw(t, "workers"), Now: time.Now,
				TeamOf: func(n string) string { return n },
			}),
		}
		defer m.q.ShutDown()
		teams := rapid.SampledFrom([]string{"a", "a", "a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				m.add(key(teams.Draw(t, "team"), rapid.IntRange(0, 5).Draw(t, "key")),
					rapid.SampledFrom([]int{-200, -100, 0, 5}).Draw(t, "priority"))
			},
			"get": func(t *rapid.T) {
				if !m.mayStart() {
					t.Skip("nothing may start")
				}
				m.get(t)
			},
			"done": func(t *rapid.T) {
				if len(m.running) == 0 {
					t.Skip("nothing is under way")
				}
				m.done(rapid.SampledFrom(sortedKeys(m.running)).Draw(t, "done"))
			},
			"": func(t *rapid.T) {
				if m.q.Len() != len(m.wanted) {
					t.Fatalf("%d wait, want %d", m.q.Len(), len(m.wanted))
				}
			},
		})
		for len(m.wanted)+len(m.running) > 0 { // nothing is lost
			for k := range m.running {
				m.done(k)
			}
			for m.mayStart() {
				m.get(t)
			}
		}
	})
}

func sortedKeys(of map[reconcile.Request]bool) (all []reconcile.Request) {
	for _, team := range []string{"a", "b", "c"} {
		for i := range 6 {
			if of[key(team, i)] {
				all = append(all, key(team, i))
			}
		}
	}
	return all
}

// With many workers and keys that are added again while they are being processed, no key is handed to two workers and
// none is lost.
func TestWorkersShareAQueue(t *testing.T) {
	const workers, each = 8, 200
	q := newTestQueue(t, workers)
	var mu sync.Mutex
	passes, under := map[reconcile.Request]int{}, map[reconcile.Request]bool{}
	finished := make(chan struct{})
	var ended sync.Once
	var all sync.WaitGroup
	for range workers + Extra(workers) {
		all.Go(func() {
			for {
				k, _, shutdown := q.GetWithPriority()
				if shutdown {
					return
				}
				mu.Lock()
				if under[k] {
					t.Errorf("%s is under way twice", k)
				}
				under[k] = true
				passes[k]++
				n := passes[k]
				mu.Unlock()
				switch n {
				case 1:
					q.Add(k)
				case 2:
					q.AddAfter(k, time.Millisecond)
				}
				mu.Lock()
				under[k] = false
				left := 0
				for _, n := range passes {
					left += 3 - n
				}
				if left == 0 && len(passes) == 3*each {
					ended.Do(func() { close(finished) }) // several goroutines may see the last passes start
				}
				mu.Unlock()
				q.Done(k)
			}
		})
	}
	for i := range each {
		for _, team := range []string{"a", "b", "c"} {
			q.Add(key(team, i))
		}
	}
	select {
	case <-finished:
	case <-t.Context().Done():
		t.Fatal(fmt.Sprint(passes))
	}
	q.ShutDown()
	all.Wait()
}
