// Package cluster is the portal's only client of Kubernetes.
//
// Reads come from a shared cache, or from the API server with the portal's own ServiceAccount, and only after an access
// review for the caller. Writes are sent as the caller, by impersonation through a second ServiceAccount that can do
// nothing else except read, as the caller, logs of Pods and the metrics of single Pods.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/overview"
	"github.com/portico-platform/portico/portal/podlogs"
)

// Options of a Cluster.
type Options struct {
	// Impersonator is the ServiceAccount that impersonates callers for writes.
	Impersonator types.NamespacedName
	// Namespace is Portico's own; it holds the revocation list, the portal's ServiceAccount and the operator's Lease.
	Namespace string
	// Prefix precedes usernames and groups in Kubernetes.
	Prefix string
	// AskEverywhere is for API servers with authorizers other than RBAC: the portal then checks each user's rights in
	// the whole cluster and in every namespace, and not only where bindings name the user.
	AskEverywhere bool
	Clock         clock.PassiveClock // nil: the real one
	Log           *slog.Logger
}

// Cluster reads and writes for callers. It is safe for concurrent use.
type Cluster struct {
	kinds        catalog.Catalog
	cache        cache.Cache
	access       *access
	reader       dynamic.Interface // with the portal's own credentials
	impersonator *impersonator
	feed         *feed
	overview     *overview.Store
	watches      watches
	// podEvents are the events about Pods, which the cache does not hold.
	podEvents  *podEvents
	logReaders podlogs.Readers
	usage      usages
	// askEverywhere is Options.AskEverywhere.
	askEverywhere bool
	revoked       *Revocations
	turns         *Turns
	prefix        string   // Options.Prefix
	issuers       sync.Map // of ServiceAccounts' tokens
	signers       *identity.Keys
	now           func() time.Time
	operator      *operator.Client
	client        kubernetes.Interface
	activity      *activity.Recorder
	log           *slog.Logger
}

// New returns a Cluster with the portal's own credentials in cfg; Run starts it. New sends no requests.
func New(cfg *rest.Config, kinds catalog.Catalog, opts Options) (*Cluster, error) {
	if opts.Impersonator.Name == "" || opts.Impersonator.Namespace == "" {
		return nil, errors.New("no impersonating ServiceAccount given")
	}
	if cfg.Impersonate.UserName != "" {
		return nil, errors.New("the portal's own credentials must not impersonate")
	}
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	own := rest.CopyConfig(cfg)
	own.QPS, own.UserAgent = -1, "portico-portal" // the API server's priority and fairness limits us
	own.Wrap(tracing.Transport)
	own.Wrap(leavingTrail(asPortal))
	clients, reader, err := ownClients(own)
	if err != nil {
		return nil, fmt.Errorf("preparing the Kubernetes client: %w", err)
	}
	objects, err := newCache(own, kinds)
	if err != nil {
		return nil, fmt.Errorf("preparing the cache: %w", err)
	}
	w, err := newImpersonator(own, clients, opts.Impersonator, opts.Clock)
	if err != nil {
		return nil, fmt.Errorf("preparing the impersonating client: %w", err)
	}
	revoked, err := newRevocations(clients.CoreV1().Secrets(opts.Namespace), opts.Clock)
	if err != nil {
		return nil, err
	}
	changes := newFeed()
	c := &Cluster{
		usage: usages{clock: opts.Clock}, podEvents: newPodEvents(clients, kinds, changes.publish),
		kinds: kinds, cache: objects, client: clients, reader: reader, impersonator: w, feed: changes,
		overview: overview.NewStore(), askEverywhere: opts.AskEverywhere, log: opts.Log,
		access: newAccess(clients.AuthorizationV1().SubjectAccessReviews(), opts.Clock), revoked: revoked,
		turns: newTurns(clients.CoreV1().Secrets(opts.Namespace)), prefix: opts.Prefix, now: opts.Clock.Now,
		activity: activity.New(clients.EventsV1(), opts.Clock, opts.Log),
		operator: operator.New(newOperatorAccess(clients, opts.Namespace, opts.Clock), opts.Clock, opts.Log),
	}
	c.access.worth, c.access.exists = c.worthAsking, c.namespaceExists
	c.signers, err = newSigners(own, clients, opts.Clock)
	return c, err
}

// ownClients returns clients with the portal's own identity; the second one only reads.
func ownClients(cfg *rest.Config) (kubernetes.Interface, dynamic.Interface, error) {
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, nil, err
	}
	reader, err := dynamic.NewForConfig(cfg)
	return clients, reader, err
}

// Run keeps the cache and the revocation list up to date until ctx ends.
func (c *Cluster) Run(ctx context.Context) error {
	if err := c.watch(ctx); err != nil {
		return err
	}
	go c.revoked.run(ctx)
	defer c.operator.Close()
	defer c.podEvents.close()
	sampling := time.NewTicker(operator.SampleEvery)
	defer sampling.Stop()
	go c.operator.Sample(ctx, sampling.C)
	counting := time.NewTicker(activity.FlushEvery)
	defer counting.Stop()
	var telling sync.WaitGroup
	defer telling.Wait()
	telling.Go(func() { c.activity.Run(ctx, counting.C) })
	if err := c.cache.Start(ctx); err != nil {
		return fmt.Errorf("running the cache: %w", err)
	}
	return nil
}

// Kinds returns the kinds that the Cluster serves.
func (c *Cluster) Kinds() catalog.Catalog { return c.kinds }

// Revocations returns the revoked sessions, shared by all replicas.
func (c *Cluster) Revocations() *Revocations { return c.revoked }

// Turns returns the turns in which the replicas renew sessions.
func (c *Cluster) Turns() *Turns { return c.turns }
