// Package cluster is the portal's only client of Kubernetes: a Cluster has a part for each job, from the packages in
// this folder.
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

	"github.com/portico-platform/portico/api/silence"
	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/hostnames"
	"github.com/portico-platform/portico/portal/cluster/impersonate"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/people"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/cluster/sessions"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/operator"
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

// Cluster is the parts. Each checks the rights of the caller, and is safe for concurrent use.
type Cluster struct {
	Kinds     *catalog.Live
	Rights    Rights
	Objects   Objects
	Teams     Teams
	Hostnames Hostnames
	Write     Writer
	Pods      Pods
	People    People
	Operator  Operator
	Sessions  Sessions
	Changes   *feed.Changes // of objects, for subscribers

	Revocations *sessions.Revocations // shared by all replicas
	Turns       *sessions.Turns       // in which the replicas renew sessions
	Tokens      *sessions.Reviewer
	Deployers   *operator.Client // exchanges tokens of CI jobs

	silence *silence.Watch // of the API server
	running running
}

// running are the parts that Run runs.
type running struct {
	feed     *feed.Feed
	rights   *rights.Rights
	pods     *pods.Pods
	operator *operator.Client
	activity *activity.Recorder
	as       *impersonate.Impersonator // for Write and Pods, which check and record what they do
}

// New returns a Cluster with the portal's own credentials in cfg; Run starts it. New sends no requests.
func New(cfg *rest.Config, opts Options) (*Cluster, error) {
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
	silent := silence.New(opts.Clock.Now)
	own.Wrap(silent.Transport)
	own.Wrap(tracing.Transport)
	own.Wrap(failure.LeavingTrail(failure.AsPortal))
	clients, reader, err := ownClients(own)
	if err != nil {
		return nil, fmt.Errorf("preparing the Kubernetes client: %w", err)
	}
	watched, err := feed.New(own, opts.Log)
	if err != nil {
		return nil, err
	}
	may := rights.New(rights.Options{
		Reviews: clients.AuthorizationV1().SubjectAccessReviews(), Feed: watched, AskEverywhere: opts.AskEverywhere,
		Clock: opts.Clock,
	})
	as, err := impersonate.New(own, clients, opts.Impersonator, may, opts.Clock)
	if err != nil {
		return nil, fmt.Errorf("preparing the impersonating client: %w", err)
	}
	c := &Cluster{Kinds: watched.Kinds, Changes: watched.Changes, silence: silent}
	c.running = running{
		feed: watched, rights: may, as: as, activity: activity.New(clients.EventsV1(), opts.Clock, opts.Log),
		operator: operator.New(newOperatorAccess(clients, opts.Namespace, opts.Clock), opts.Clock, opts.Log),
	}
	c.Deployers = c.running.operator
	c.build(clients, reader, opts)
	return c, c.signIn(own, clients, opts)
}

// build makes the parts that answer pages and the REST API.
func (c *Cluster) build(clients kubernetes.Interface, reader dynamic.Interface, opts Options) {
	r := &c.running
	read, names := objects.New(r.rights, r.feed, reader), hostnames.New(r.rights, r.feed)
	r.pods = pods.New(r.rights, r.feed, r.as, clients, r.activity, opts.Clock)
	c.Rights, c.Objects, c.Hostnames, c.Pods = r.rights, read, names, r.pods
	c.Teams = teams.New(r.rights, r.feed, read)
	c.Write = write.New(r.rights, read, r.as, r.activity)
	c.People = people.New(r.rights, r.operator, opts.Log)
	c.Operator = &operatorPart{
		kinds: c.Kinds, rights: r.rights, hostnames: names, operator: r.operator, client: clients,
	}
}

// signIn makes the parts about who is signed in.
func (c *Cluster) signIn(own *rest.Config, clients kubernetes.Interface, opts Options) (err error) {
	secrets := clients.CoreV1().Secrets(opts.Namespace)
	if c.Revocations, err = sessions.NewRevocations(secrets, opts.Clock); err != nil {
		return err
	}
	c.Turns = sessions.NewTurns(secrets)
	c.Sessions = sessions.New(c.running.rights, c.Revocations, opts.Prefix)
	c.Tokens, err = sessions.NewReviewer(own, clients, c.running.as.Tokens, opts.Clock)
	return err
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

// CheckImpersonation returns the check that the portal can act as its users.
func (c *Cluster) CheckImpersonation() func(context.Context) ([]check.Problem, error) {
	return c.running.as.Check(c.Kinds)
}

// Run keeps the cache and the revocation list up to date until ctx ends.
func (c *Cluster) Run(ctx context.Context) error {
	r := &c.running
	if err := r.feed.Watch(ctx, r.rights.OnBindings()); err != nil {
		return err
	}
	go c.Revocations.Run(ctx)
	defer r.operator.Close()
	defer r.pods.Close()
	sampling := time.NewTicker(operator.SampleEvery)
	defer sampling.Stop()
	go r.operator.Sample(ctx, sampling.C)
	counting := time.NewTicker(activity.FlushEvery)
	defer counting.Stop()
	var telling sync.WaitGroup
	defer telling.Wait()
	telling.Go(func() { r.activity.Run(ctx, counting.C) })
	return r.feed.Run(ctx)
}

// Ready returns why the portal cannot serve yet; nil once the cache, the overview and the revocation list are complete.
// A *silence.Error says that they cannot be completed, because the API server does not answer.
func (c *Cluster) Ready() error {
	err := c.running.feed.Ready()
	if !c.Revocations.Loaded() {
		err = errors.New("the list of revoked sessions is not loaded yet")
	}
	if silent := c.silence.Err(); err != nil && silent != nil {
		return silent
	}
	return err
}
