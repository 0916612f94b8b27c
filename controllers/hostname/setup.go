package hostname

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/controllers/hostname/cert"
	"github.com/portico-platform/portico/controllers/hostname/claim"
	"github.com/portico-platform/portico/controllers/hostname/dns"
	"github.com/portico-platform/portico/controllers/hostname/pool"
	"github.com/portico-platform/portico/controllers/watch"
)

// Options are what the controllers of hostnames need.
type Options struct {
	Namespace string // the operator's own
	Gateways  string // the namespace of the pool's Gateways
	Class     string // the GatewayClass of requests that name none
	Connector cloud.Connector
	Engine    engine.Options
	// Settling is how long AWS may return an old state.
	Settling time.Duration
	// BatchWindow is how long the first change of a hosted zone waits for others.
	BatchWindow time.Duration
	// Patience is how long a load balancer may fail to follow before hostnames are suspected.
	Patience time.Duration
}

// hostnameWorkers is the number of workers: a pass mostly waits for Route 53, and concurrent passes share requests.
const hostnameWorkers = 40

// setup registers the controllers.
type setup struct {
	mgr ctrl.Manager
	o   Options
	// queues holds the queues of changes to hosted zones, by account, across providers and regions.
	queues *sync.Map
	done   <-chan struct{} // closed when the operator ends
}

// Index indexes our own kinds, which exist with or without Gateway API in the cluster.
func Index(ctx context.Context, mgr ctrl.Manager) error {
	for _, user := range []watch.ProviderUser{&v1alpha1.GatewayHostnameRequest{}, &v1alpha1.PoolGateway{}} {
		if err := watch.IndexProviders(ctx, mgr, user); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		obj   client.Object
		name  string
		value client.IndexerFunc
	}{
		{&v1alpha1.GatewayHostnameRequest{}, pool.Index, func(o client.Object) []string { return named(o.(*v1alpha1.GatewayHostnameRequest).Status.Gateway) }},
		{&v1alpha1.DomainClaim{}, pool.Index, func(o client.Object) []string { return named(o.(*v1alpha1.DomainClaim).Spec.Gateway) }},
		{&v1alpha1.DomainClaim{}, NamespaceIndex, func(o client.Object) []string { return named(o.(*v1alpha1.DomainClaim).Spec.Holder.Namespace) }},
	} {
		if err := watch.Index(ctx, mgr, one.obj, one.name, one.value); err != nil {
			return err
		}
	}
	return nil
}

func named(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// Setup registers the controllers with the manager, which may already be running. The cluster must have the kinds of
// Gateway API.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	c := setup{mgr: mgr, o: o, queues: &sync.Map{}, done: ctx.Done()}
	kube, live := c.mgr.GetClient(), c.mgr.GetAPIReader()
	CertificateMetrics.SetManager(c.mgr)
	pool.Metrics.SetManager(c.mgr)
	claims := &claim.Registry{Client: kube, APIReader: live, Namespace: c.o.Namespace}
	classes := pool.ClassChecker{Reader: kube, APIReader: live}
	requests := Reconciler{
		Reader: kube, Claims: claims, Class: c.o.Class, Classes: classes, Connect: c.account, Now: c.o.Engine.Now,
		Allocator:        pool.Allocator{Client: kube, APIReader: live, Namespace: c.o.Gateways},
		AllowCertificate: CertificateLimiter{Client: kube, APIReader: live}.Allow,
	}
	settings := c.o.Engine
	settings.Workers = max(settings.Workers, hostnameWorkers)
	own := c.o.Engine
	own.History = nil // only the operator writes this kind
	return cmp.Or(
		c.routeIndexes(ctx),
		engine.Setup(c.mgr, &v1alpha1.GatewayHostnameRequest{}, requests, settings, c.watchedByRequests),
		engine.Setup(c.mgr, &v1alpha1.PoolGateway{}, pool.Reconciler{
			Applier: apply.Applier{Client: kube, APIReader: live}, Classes: classes, LoadBalancers: c.loadBalancers,
			ObservedTimes: &pool.ObservedTimes{MaxAge: c.o.Settling}, DeleteUnused: claims.DeleteUnusedPool,
			MinAge: c.o.Settling, Now: c.o.Engine.Now,
			Heartbeat: &pool.Heartbeat{Reader: live}, Patience: c.o.Patience,
		}, own, c.watchedByPool),
		engine.Setup(c.mgr, &v1alpha1.DomainClaim{}, claim.Reconciler{Reader: kube, APIReader: live}, c.o.Engine,
			func(b *builder.Builder) {
				b.Watches(&v1alpha1.GatewayHostnameRequest{}, watch.EnqueueKey(claimOf),
					builder.WithPredicates(requestClaimChanged()))
			}),
		engine.Setup(c.mgr, &v1alpha1.HostnameGrant{}, GrantReconciler{Reader: kube}, c.o.Engine,
			func(b *builder.Builder) {
				b.Watches(&v1alpha1.DomainClaim{}, watch.EnqueueKey(grantOf),
					builder.WithPredicates(watch.CreatedOrDeleted()))
			}),
	)
}

// routeIndexes indexes routes by their ListenerSets.
func (s setup) routeIndexes(ctx context.Context) error {
	for _, route := range []client.Object{&gatewayv1.HTTPRoute{}, &gatewayv1.GRPCRoute{}} {
		if err := watch.Index(ctx, s.mgr, route, pool.RouteIndex, pool.ListenerSetsOf); err != nil {
			return err
		}
	}
	return nil
}

func (s setup) watchedByRequests(b *builder.Builder) {
	request := &v1alpha1.GatewayHostnameRequest{}
	everywhere := func(client.Object) client.ListOption { return client.InNamespace("") }
	b.Watches(&v1alpha1.AWSProvider{}, watch.EnqueueUsers(s.mgr, request),
		builder.WithPredicates(watch.ProviderChanged()))
	b.Watches(&v1alpha1.AWSProvider{}, watch.EnqueueWaitingUsers(s.mgr, request),
		builder.WithPredicates(watch.CredentialsChanged()))
	beside := func(g client.Object) client.ListOption { return client.InNamespace(g.GetNamespace()) }
	b.Watches(&v1alpha1.HostnameGrant{}, watch.EnqueueMatching(s.mgr, request, beside),
		builder.WithPredicates(watch.SpecChanged()))
	b.WatchesMetadata(&corev1.Namespace{}, watch.EnqueueNamespace(s.mgr, request),
		builder.WithPredicates(watch.NamespaceChanged()))
	b.Watches(&v1alpha1.Team{}, watch.EnqueueTeam(s.mgr, request), builder.WithPredicates(watch.TeamRulesChanged()))
	onIt := func(g client.Object) client.ListOption { return client.MatchingFields{pool.Index: g.GetName()} }
	b.Watches(&v1alpha1.PoolGateway{}, watch.EnqueueMatching(s.mgr, request, onIt),
		builder.WithPredicates(poolServingChanged()))
	b.Watches(&v1alpha1.PoolGateway{}, watch.EnqueueMatching(s.mgr, request, onIt, notReadyOrDeleting),
		builder.WithPredicates(poolStatusChanged()))
	b.Watches(&v1alpha1.DomainClaim{}, watch.EnqueueKey(holderOf), builder.WithPredicates(watch.DeletionsOnly()))
	b.Watches(&v1alpha1.DomainClaim{}, watch.EnqueueMatching(s.mgr, request, everywhere, waitsForClaim),
		builder.WithPredicates(watch.DeletionsOnly()))
	b.Watches(&gatewayv1.ListenerSet{}, s.enqueueClaimant())
	b.Watches(&gatewayv1.GatewayClass{}, watch.EnqueueMatching(s.mgr, request, everywhere, notReadyOrDeleting),
		builder.WithPredicates(watch.SpecChanged()))
}

func (s setup) watchedByPool(b *builder.Builder) {
	b.Owns(&gatewayv1.Gateway{})
	b.Owns(&gatewayv1.ListenerSet{}, builder.WithPredicates(watch.NotCreated(), watch.SpecChanged()))
	b.Owns(&gatewayv1.HTTPRoute{}, builder.WithPredicates(watch.NotCreated(), watch.SpecChanged()))
	b.Owns(&albconfig.LoadBalancerConfiguration{}, builder.WithPredicates(watch.NotCreated(), watch.SpecChanged()))
	b.Watches(&v1alpha1.AWSProvider{}, watch.EnqueueUsers(s.mgr, &v1alpha1.PoolGateway{}),
		builder.WithPredicates(watch.ProviderChanged()))
	b.Watches(&v1alpha1.GatewayHostnameRequest{}, s.enqueuePool(), builder.WithPredicates(membershipChanged()))
	b.Watches(&v1alpha1.DomainClaim{}, s.enqueuePool(), builder.WithPredicates(watch.SpecChanged()))
	b.Watches(&gatewayv1.HTTPRoute{}, s.enqueuePoolsOfRoute(), builder.WithPredicates(watch.SpecChanged()))
	b.Watches(&gatewayv1.GRPCRoute{}, s.enqueuePoolsOfRoute(), builder.WithPredicates(watch.SpecChanged()))
	everyPool := func(client.Object) client.ListOption { return client.InNamespace("") }
	b.Watches(&gatewayv1.GatewayClass{}, watch.EnqueueMatching(s.mgr, &v1alpha1.PoolGateway{}, everyPool),
		builder.WithPredicates(watch.SpecChanged()))
}

// account connects a request to AWS; the parts are shared with other requests.
func (s setup) account(ctx context.Context, r *v1alpha1.GatewayHostnameRequest) (*Account, error) {
	session, err := s.o.Connector.OpenFor(ctx, cloud.ProviderUse{
		Kind: v1alpha1.KindGatewayHostnameRequest, Namespace: r.Namespace, Provider: r.Spec.ProviderRef.Name,
		Region:    r.Status.Region,
		AccountID: r.Status.AccountID, HasResources: r.Status.Claim != "", Deleting: !r.DeletionTimestamp.IsZero(),
	})
	if err != nil {
		return nil, err
	}
	queues, _ := s.queues.LoadOrStore(session.AccountID, &dns.Queues{Window: s.o.BatchWindow, Until: s.done})
	return &Account{
		ID: session.AccountID, Region: session.Config.Region, Cluster: session.Identity.Cluster,
		Zones: cloud.Shared(session, func() *dns.Zones {
			return dns.New(route53.NewFromConfig(session.Config), queues.(*dns.Queues), s.o.Engine.Now, s.o.Settling)
		}),
		Certs: cert.Certificates{ACM: acm.NewFromConfig(session.Config), Tags: resourcegroupstaggingapi.NewFromConfig(session.Config)},
		Tags:  func(r *v1alpha1.GatewayHostnameRequest) map[string]string { return session.Tags(asHolder(r), nil) },
		SearchTags: func(r *v1alpha1.GatewayHostnameRequest) map[string][]string {
			return session.Identity.SearchTags(asHolder(r))
		},
		Recheck:  func(ctx context.Context) error { return s.o.Connector.Recheck(ctx, session, r.Namespace) },
		Settling: s.o.Settling,
	}, nil
}

// asHolder returns a copy of the request with the UID that holds its hostname.
func asHolder(r *v1alpha1.GatewayHostnameRequest) *v1alpha1.GatewayHostnameRequest {
	holder := *r
	holder.UID = r.HolderUID()
	return &holder
}

func (s setup) loadBalancers(ctx context.Context, g *v1alpha1.PoolGateway) (pool.LoadBalancers, error) {
	session, err := s.o.Connector.OpenFor(ctx, cloud.ProviderUse{
		Kind: v1alpha1.KindPoolGateway, Namespace: g.Namespace, Provider: g.Spec.ProviderRef.Name,
		Region:    g.Spec.Region,
		AccountID: g.Spec.AccountID, HasResources: true, Deleting: !g.DeletionTimestamp.IsZero(), Platform: true,
	})
	if err != nil {
		return pool.LoadBalancers{}, err
	}
	return pool.LoadBalancers{API: elasticloadbalancingv2.NewFromConfig(session.Config)}, nil
}
