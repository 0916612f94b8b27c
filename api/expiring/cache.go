// Package expiring keeps values for a while, within a bound.
package expiring

import (
	"sync"
	"time"
)

// Cache caches values for a while, in two generations: when the young one is old or full, it becomes the old one, and
// the previous old one is dropped. It never holds more than limit values. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
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

// New returns an empty cache of values that live as long as life, limit of them at most.
func New[K comparable, V any](life time.Duration, limit int, now func() time.Time) *Cache[K, V] {
	return &Cache[K, V]{life: life, limit: limit, now: now, young: map[K]kept[V]{}, born: now()}
}

// Get returns the value of a key, if it is kept and has not expired.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
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

// Put keeps a value.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.born) >= c.life || len(c.young) >= c.limit/2 {
		c.young, c.old, c.born = map[K]kept[V]{}, c.young, now
	}
	c.young[key] = kept[V]{value, now.Add(c.life)}
}
