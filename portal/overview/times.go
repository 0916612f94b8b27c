package overview

import (
	"cmp"
	"slices"
	"time"
)

// Times are how long the objects of a kind took from the request until they were first ready: an aggregate that reveals
// nothing about single objects.
type Times struct {
	N        int
	P50, P95 time.Duration // to the second, as Kubernetes keeps times
	Buckets  []Bucket      // every one of them, the shortest first
}

// enough is the minimum number of measurements for percentiles.
const enough = 5

// Known reports whether there are enough measurements for meaningful percentiles.
func (t Times) Known() bool { return t.N >= enough }

// Bucket counts the objects that took UpTo at most, and longer than the bucket before.
type Bucket struct {
	UpTo time.Duration // 0 in the last bucket, which has no bound
	N    int
}

// bounds of the buckets: from a queue's seconds to a database's hour.
var bounds = []time.Duration{
	2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute,
	2 * time.Minute,
	5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour,
}

// TimesToReady returns the times to ready of a kind, given its plural.
func (s *Store) TimesToReady(kind string) Times {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := s.times[kind]
	if d == nil {
		d = &durations{}
	}
	return d.times()
}

// durations is a sorted list of how often each duration occurs. Times are whole seconds, so that it stays short however
// many objects there are.
type durations struct {
	all []counted
	n   int
}

type counted struct {
	took time.Duration
	n    int
}

func (d *durations) add(took time.Duration, n int) {
	took = took.Truncate(time.Second)
	i, found := slices.BinarySearchFunc(d.all, took, func(c counted, t time.Duration) int {
		return cmp.Compare(c.took, t)
	})
	if !found {
		d.all = slices.Insert(d.all, i, counted{took: took})
	}
	d.n += n
	if d.all[i].n += n; d.all[i].n == 0 {
		d.all = slices.Delete(d.all, i, i+1)
	}
}

func (d *durations) times() Times {
	t := Times{N: d.n, P50: d.percentile(50), P95: d.percentile(95)}
	for _, b := range bounds {
		t.Buckets = append(t.Buckets, Bucket{UpTo: b})
	}
	t.Buckets = append(t.Buckets, Bucket{})
	for _, c := range d.all {
		i, _ := slices.BinarySearch(bounds, c.took)
		t.Buckets[i].N += c.n
	}
	return t
}

// percentile returns the least duration that p percent of the durations do not exceed, or 0 if there are none.
func (d *durations) percentile(p int) time.Duration {
	rank := (d.n*p + 99) / 100
	for _, c := range d.all {
		if rank -= c.n; rank <= 0 {
			return c.took
		}
	}
	return 0
}
