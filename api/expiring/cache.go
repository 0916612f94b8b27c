// Package expiring keeps values for a while, within bounds. It gives Kubernetes' LRUExpireCache types, and a bound in
// bytes.
package expiring

import (
	"sync"
	"time"

	lru "k8s.io/apimachinery/pkg/util/cache"
)

// Cache keeps values until they expire. It drops the value that was not used for longest when there are too many, and
// all of them when they are too large together. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	kept  *lru.LRUExpireCache
	most  int // bytes; 0: not limited
	size  func(V) int
	mu    sync.Mutex
	bytes int // of all values added since the cache was empty
}

// New returns an empty cache of limit values at most. now is its clock.
func New[K comparable, V any](limit int, now func() time.Time) *Cache[K, V] {
	return &Cache[K, V]{kept: lru.NewLRUExpireCacheWithClock(limit, clock(now))}
}

// Sized limits the values to most bytes together, and returns the cache. It must be called before the cache is used.
func (c *Cache[K, V]) Sized(most int, size func(V) int) *Cache[K, V] {
	c.most, c.size = most, size
	return c
}

// Get returns the value of a key, if it is kept and has not expired.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	one, ok := c.kept.Get(key)
	if !ok {
		return value, false
	}
	return one.(V), true
}

// Put keeps a value until life has passed. A value that is too large for the cache is not kept.
func (c *Cache[K, V]) Put(key K, value V, life time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size != nil && !c.admit(c.size(value)) {
		return
	}
	c.kept.Add(key, value, life-1) // an LRUExpireCache returns a value at the very end of its life, too
}

// admit makes room for a value, and reports whether there is any. Values that expired or were replaced still count, so
// the cache never holds more than it counts. The caller must hold the lock.
func (c *Cache[K, V]) admit(size int) bool {
	if size > c.most {
		return false
	}
	if c.bytes+size > c.most {
		c.kept.RemoveAll(func(any) bool { return true })
		c.bytes = 0
	}
	c.bytes += size
	return true
}

// clock is a function as the clock of an LRUExpireCache.
type clock func() time.Time

// Now returns the time.
func (c clock) Now() time.Time { return c() }
