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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// The waits between two looks at the world: changes that come together are seen together, and what failed is tried
// again after a second, two, four, up to half a minute.
const (
	together               = 20 * time.Millisecond
	firstWait, longestWait = time.Second, 30 * time.Second
)

// Simulator plays the controller between New and the end of Run.
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

	mu       sync.Mutex // one pass at a time, and what follows
	progress map[types.NamespacedName]*progress
}

// progress is how far a Gateway is.
type progress struct {
	seen   string    // the key of the model of the last pass
	since  time.Time // when that was first seen
	done   string    // the key of the model that was built
	next   time.Time // when to try again what failed
	failed int       // times in a row
	err    error     // of the last
	built  built
}

// New connects to the cluster, which must serve the kinds, and to AWS. Run does the rest, and logs what fails.
func New(ctx context.Context, cluster *rest.Config, account aws.Config, log io.Writer) (*Simulator, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, coordinationv1.AddToScheme, gatewayv1.Install, albconfig.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	// The API server may be restarted beneath it; the watches are tried again anyway.
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
		progress: map[types.NamespacedName]*progress{},
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

// look asks for a pass soon.
func (s *Simulator) look() {
	select {
	case s.wake <- struct{}{}:
	default: // asked for already
	}
}

// Run plays the controller until ctx ends.
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

// Pause makes the simulator do nothing, as a controller that is down: what it has written stays as it is. A pass that
// is under way is finished before Pause returns.
func (s *Simulator) Pause() {
	s.paused.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
}

// Resume ends a pause. Like a controller that starts, the simulator then compares everything with AWS. So it may also
// be called without a pause, to repair what others have changed there.
func (s *Simulator) Resume() {
	s.mu.Lock()
	for _, p := range s.progress {
		p.done, p.next = "", time.Time{}
	}
	s.mu.Unlock()
	s.paused.Store(false)
	s.look()
}

// SetDelay makes each change of a Gateway, its ListenerSets, routes or configuration reach AWS, and the statuses, only
// after d, counted from the last change. 0 is the start.
func (s *Simulator) SetDelay(d time.Duration) {
	s.delay.Store(int64(d))
	s.look()
}

// Unforeseen is a fault of the controller that nobody has thought of, such as a next version may have.
type Unforeseen struct {
	Path   string // in a rule of a route; a route that has it stops the controller
	Silent bool   // it says nothing
}

// SetUnforeseen gives the controller the fault; nil, as at the start, takes it away.
func (s *Simulator) SetUnforeseen(u *Unforeseen) {
	s.unknown.Store(u)
	s.Resume()
}

// Counts are of everything since the start.
type Counts struct {
	Created, Deleted int64 // load balancers
	Changes          int64 // calls to AWS that changed anything
	Failures         int64 // of a whole Gateway
	Writes           int64 // to Kubernetes
}

type counters struct{ created, deleted, changes, failures, writes atomic.Int64 }

// Counts tells what the simulator has done.
func (s *Simulator) Counts() Counts {
	c := &s.counters
	return Counts{
		Created: c.created.Load(), Deleted: c.deleted.Load(), Changes: c.changes.Load(),
		Failures: c.failures.Load(), Writes: c.writes.Load(),
	}
}
