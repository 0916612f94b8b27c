package engine

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scrapeTimeout bounds how long a scrape waits for a cache that is being filled; Prometheus waits ten seconds by default.
const scrapeTimeout = 5 * time.Second

// Scrape collects metrics from the cache at the moment in which they are asked for: no bookkeeping that could drift. It
// implements prometheus.Collector.
type Scrape struct {
	descs []*prometheus.Desc
	read  func(ctx context.Context, from client.Reader, out chan<- prometheus.Metric) error

	mu     sync.Mutex
	leader Leader
}

// Leader is what a Scrape needs of a manager.
type Leader interface {
	GetCache() cache.Cache
	Elected() <-chan struct{}
}

// NewScrape registers a collector of the descs, which read sends. It tells nothing before Follow. What read has sent stays
// when it fails.
func NewScrape(read func(context.Context, client.Reader, chan<- prometheus.Metric) error, descs ...*prometheus.Desc) *Scrape {
	return register(&Scrape{read: read, descs: descs})
}

// Follow makes s read the manager's cache; a later manager takes the place of an earlier one.
func (s *Scrape) Follow(m Leader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leader = m
}

// Describe implements prometheus.Collector.
func (s *Scrape) Describe(out chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector. A replica that does not lead tells nothing: sums over all replicas are right, and
// being asked fills no cache of one that stands by.
func (s *Scrape) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	leader := s.leader
	s.mu.Unlock()
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
	_ = s.read(ctx, leader.GetCache(), out) // a cache that is not running tells nothing
}
