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

// CacheCollector computes metrics from the cache when Prometheus asks for them, so that there is no bookkeeping to
// drift. It implements prometheus.Collector.
type CacheCollector struct {
	descs []*prometheus.Desc
	read  func(ctx context.Context, from client.Reader, out chan<- prometheus.Metric) error

	mu      sync.Mutex
	manager LeaderCache
}

// LeaderCache is what a CacheCollector needs of a manager.
type LeaderCache interface {
	GetCache() cache.Cache
	Elected() <-chan struct{}
}

// NewCacheCollector registers a collector of the descs, which read sends. It collects nothing before SetManager. What
// read has sent stays when it fails.
func NewCacheCollector(read func(context.Context, client.Reader, chan<- prometheus.Metric) error, descs ...*prometheus.Desc) *CacheCollector {
	return RegisterMetric(&CacheCollector{read: read, descs: descs})
}

// SetManager makes c read the manager's cache; a later manager takes the place of an earlier one.
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

// Collect implements prometheus.Collector. A replica that does not lead sends nothing: sums over all replicas are
// right, and a scrape fills no cache of a replica that stands by.
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
	_ = c.read(ctx, leader.GetCache(), out) // a cache that is not running tells nothing
}
