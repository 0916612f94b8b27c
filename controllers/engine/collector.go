package engine

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scrapeTimeout bounds how long a scrape waits for a cache that is being filled; Prometheus waits ten seconds by
// default.
const scrapeTimeout = 5 * time.Second

// CacheCollector computes metrics from the cache at each scrape, so that there are no counters to drift. It implements
// prometheus.Collector.
type CacheCollector struct {
	descs []*prometheus.Desc
	read  func(ctx context.Context, from client.Reader, out chan<- prometheus.Metric) error

	mu      sync.Mutex
	manager LeaderCache
}

// LeaderCache is the part of a manager that a CacheCollector needs.
type LeaderCache interface {
	GetCache() cache.Cache
	Elected() <-chan struct{}
}

// NewCacheCollector registers a collector of the descs, whose metrics read sends. It collects nothing before
// SetManager. If read fails, what it has already sent is kept.
func NewCacheCollector(read func(context.Context, client.Reader, chan<- prometheus.Metric) error,
	descs ...*prometheus.Desc,
) *CacheCollector {
	return RegisterMetric(&CacheCollector{read: read, descs: descs})
}

// SetManager makes c read the manager's cache; it replaces an earlier manager.
func (c *CacheCollector) SetManager(m LeaderCache) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.manager = m
}

// Describe implements prometheus.Collector.
func (c *CacheCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector. Only the leader sends metrics: sums over all replicas are right, and a
// scrape does not fill the cache of a standby replica.
func (c *CacheCollector) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	leader := c.manager
	c.mu.Unlock()
	if leader == nil {
		return
	}
	select {
	case <-leader.Elected():
	default:
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	_ = c.read(ctx, leader.GetCache(), out) // no metrics while the cache is not running
}
