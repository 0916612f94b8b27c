package inspect

import (
	"sync"
	"time"
)

// cache keeps values for a while, in two generations: when the young one is old or full, the old one goes with all that
// has expired. There are never more than limit. Safe for concurrent use.
type cache[K comparable, V any] struct {
	life  time.Duration
	limit int
	now   func() time.Time

	mu         sync.Mutex
	young, old map[K]kept[V]
	born       time.Time // of the young generation
}

type kept[V any] struct {
	value V
	until time.Time
}

func newCache[K comparable, V any](life time.Duration, limit int, now func() time.Time) *cache[K, V] {
	return &cache[K, V]{life: life, limit: limit, now: now, young: map[K]kept[V]{}, born: now()}
}

func (c *cache[K, V]) get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, ok := c.young[key]
	if !ok {
		one, ok = c.old[key]
	}
	if !ok || !c.now().Before(one.until) {
		return value, false
	}
	return one.value, true
}

func (c *cache[K, V]) put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.born) >= c.life || len(c.young) >= c.limit/2 {
		c.young, c.old, c.born = map[K]kept[V]{}, c.young, now
	}
	c.young[key] = kept[V]{value, now.Add(c.life)}
}
