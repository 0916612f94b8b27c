package albsim

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// The waits between two passes: changes that come together are handled together, and failures are retried after one
// second, two, four, up to half a minute.
const (
	together               = 20 * time.Millisecond
	firstWait, longestWait = time.Second, 30 * time.Second
)

// Simulator simulates the controller between New and the end of Run.
type Simulator struct {
	cache cache.Cache
	kube  client.Client
	elb   *balancers

	log      *slog.Logger
	wake     chan struct{}
	paused   atomic.Bool
	delay    atomic.Int64
	unknown  atomic.Pointer[Unforeseen]
	counters counters

	mu       sync.Mutex // one pass at a time; guards the fields below
	progress map[types.NamespacedName]*progress

	liveMu sync.RWMutex
	models map[string]*model // what the load balancers do now, by DNS name
}

// progress is the state of a Gateway.
type progress struct {
	seen   string    // the key of the model in the last pass
	since  time.Time // when the key was first seen
	done   string    // the key of the model that was built
	next   time.Time // when to retry a failure
	failed int       // failures in a row
	err    error     // the last error
	built  built
}

// New connects to the cluster, which must serve the kinds, and to AWS. Run does the rest, and logs failures.
func New(ctx context.Context, cluster *rest.Config, account aws.Config, log io.Writer) (*Simulator, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, coordinationv1.AddToScheme, discoveryv1.AddToScheme, gatewayv1.Install,
		albconfig.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	// The API server may be restarted; watches are retried anyway.
	silent := func(context.Context, *toolscache.Reflector, error) {}
	reads, err := cache.New(cluster, cache.Options{Scheme: scheme, DefaultWatchErrorHandler: silent})
	if err != nil {
		return nil, fmt.Errorf("watch the cluster: %w", err)
	}
	kube, err := client.New(cluster, client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: reads}})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	s := &Simulator{
		cache: reads, kube: kube, log: slog.New(slog.NewTextHandler(log, nil)), wake: make(chan struct{}, 1),
		progress: map[types.NamespacedName]*progress{}, models: map[string]*model{},
	}
	s.elb = newBalancers(account, &s.counters)
	return s, s.watch(ctx)
}

func (s *Simulator) watch(ctx context.Context) error {
	changed := toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { s.look() },
		UpdateFunc: func(any, any) { s.look() },
		DeleteFunc: func(any) { s.look() },
	}
	for _, kind := range []client.Object{
		&gatewayv1.GatewayClass{}, &gatewayv1.Gateway{}, &gatewayv1.ListenerSet{}, &gatewayv1.HTTPRoute{},
		&gatewayv1.GRPCRoute{}, &gatewayv1.ReferenceGrant{}, &albconfig.LoadBalancerConfiguration{},
		&corev1.Service{}, &corev1.Namespace{},
	} {
		informer, err := s.cache.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watch %T: %w", kind, err)
		}
		if _, err := informer.AddEventHandler(changed); err != nil {
			return fmt.Errorf("watch %T: %w", kind, err)
		}
	}
	return nil
}

// look requests a pass soon.
func (s *Simulator) look() {
	select {
	case s.wake <- struct{}{}:
	default: // requested already
	}
}

// Run simulates the controller until ctx ends.
func (s *Simulator) Run(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- s.cache.Start(ctx) }()
	if s.cache.WaitForCacheSync(ctx) {
		go s.holdLease(ctx)
		s.loop(ctx)
	}
	return <-ended
}

func (s *Simulator) loop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			if !sleep(ctx, together) {
				return
			}
		case <-timer.C:
		}
		timer.Reset(s.pass(ctx))
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// Pause makes the simulator do nothing, like a controller that is down: what it has written stays. A pass in progress
// ends before Pause returns.
func (s *Simulator) Pause() {
	s.paused.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
}

// Resume ends a pause. Like a controller that starts, the simulator then compares everything with AWS. It can also be
// called without a pause, to repair what others have changed in AWS.
func (s *Simulator) Resume() {
	s.mu.Lock()
	for _, p := range s.progress {
		p.done, p.next = "", time.Time{}
	}
	s.mu.Unlock()
	s.paused.Store(false)
	s.look()
}

// SetDelay makes each change of a Gateway, its ListenerSets, routes or configuration reach AWS, and the statuses,
// only after d, counted from the last change. Initially it is 0.
func (s *Simulator) SetDelay(d time.Duration) {
	s.delay.Store(int64(d))
	s.look()
}

// Unforeseen is an arbitrary fault of the controller, such as a future version may have.
type Unforeseen struct {
	Path   string // in a rule of a route; a route with it stops the controller
	Silent bool   // it writes no status
}

// SetUnforeseen gives the controller the fault; nil, the initial value, removes it.
func (s *Simulator) SetUnforeseen(u *Unforeseen) {
	s.unknown.Store(u)
	s.Resume()
}

// Counts are the totals since the start.
type Counts struct {
	Created, Deleted int64 // load balancers
	Changes          int64 // calls to AWS that changed something
	Failures         int64 // of a whole Gateway
	Writes           int64 // to Kubernetes
}

type counters struct{ created, deleted, changes, failures, writes atomic.Int64 }

// Counts returns the totals since the start.
func (s *Simulator) Counts() Counts {
	c := &s.counters
	return Counts{
		Created: c.created.Load(), Deleted: c.deleted.Load(), Changes: c.changes.Load(),
		Failures: c.failures.Load(), Writes: c.writes.Load(),
	}
}
