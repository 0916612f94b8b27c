package fair

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/portico-platform/portico/api/metric"
)

// Metrics about teams carry no team label, so their number does not grow with the number of teams.
var (
	waitingTeams = register(metric.Gauge(metric.Info{
		Name: "portico_queue_waiting_teams", Source: metric.Operator, Labels: []metric.Label{metric.Controller()},
		Help: "Teams of which objects wait for a pass, without those whose delay is not over.",
	}))
	largestBacklog = register(metric.Gauge(metric.Info{
		Name: "portico_queue_largest_backlog", Source: metric.Operator, Labels: []metric.Label{metric.Controller()},
		Help: "Objects that wait for a pass, of the team with the most of them.",
	}))
)

func register(g *prometheus.GaugeVec) *prometheus.GaugeVec {
	metrics.Registry.MustRegister(g)
	return g
}

// queueMetrics are the metrics that controller-runtime has for its own queues, under the same names, and those about
// teams.
type queueMetrics struct {
	depth               workqueue.GaugeMetric
	adds, retries       workqueue.CounterMetric
	latency, work       workqueue.HistogramMetric
	unfinished, longest workqueue.SettableGaugeMetric
	teams, backlog      workqueue.SettableGaugeMetric
}

// provider is controller-runtime's metrics provider. It is only reachable as the default of a queue's options.
var provider = func() (found workqueue.MetricsProvider) {
	var options *priorityqueue.Opts[string]
	priorityqueue.New("", func(o *priorityqueue.Opts[string]) { options = o }).ShutDown()
	return options.MetricProvider
}()

func newQueueMetrics(name string) queueMetrics {
	return queueMetrics{
		depth: provider.NewDepthMetric(name), adds: provider.NewAddsMetric(name), retries: provider.NewRetriesMetric(
			name),
		latency: provider.NewLatencyMetric(name), work: provider.NewWorkDurationMetric(name),
		unfinished: provider.NewUnfinishedWorkSecondsMetric(name),
		longest:    provider.NewLongestRunningProcessorSecondsMetric(name),
		teams:      waitingTeams.WithLabelValues(name), backlog: largestBacklog.WithLabelValues(name),
	}
}

func (m queueMetrics) added() {
	m.adds.Inc()
	m.depth.Inc()
}

func (m queueMetrics) got(waited time.Duration) {
	m.depth.Dec()
	m.latency.Observe(waited.Seconds())
}

// tellEvery is how often the queue's gauges are updated, the interval that client-go uses.
const tellEvery = 500 * time.Millisecond

// tell updates the gauges about running passes and waiting teams until the queue is shut down.
func (q *Queue) tell() {
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-q.finished:
			return
		case <-ticker.C:
			q.tellOnce()
		}
	}
}

func (q *Queue) tellOnce() {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all, longest time.Duration
	for _, r := range q.running {
		age := q.Now().Sub(r.began)
		all, longest = all+age, max(longest, age)
	}
	q.metrics.unfinished.Set(all.Seconds())
	q.metrics.longest.Set(longest.Seconds())
	waiting, most := map[string]int{}, 0
	for _, ring := range []*Ring[*item]{&q.asked, &q.rest} {
		for team, l := range ring.lines {
			waiting[team] += len(l.entries)
			most = max(most, waiting[team])
		}
	}
	q.metrics.teams.Set(float64(len(waiting)))
	q.metrics.backlog.Set(float64(most))
}
