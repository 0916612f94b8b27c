package controllers

import (
	"context"
	"fmt"
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
	"sigs.k8s.io/controller-runtime/pkg/controller"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/inspect"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/controllers/hostname/cert"
	"github.com/portico-platform/portico/controllers/hostname/claim"
	"github.com/portico-platform/portico/controllers/hostname/dns"
	"github.com/portico-platform/portico/controllers/hostname/pool"
	"github.com/portico-platform/portico/controllers/owned"
)

// Hostnames is what a deployment decides about hostnames.
type Hostnames struct {
	Namespace string // of the pool's Gateways
	Class     string // the GatewayClass of requests that name none
	// Look is how often the kinds of Gateway API are looked for while the cluster lacks them; 0: half a minute.
	Look time.Duration
	// Gather is how long the first change of a hosted zone waits for others; 0: a second.
	Gather time.Duration
}

// What holds where a deployment says nothing else.
const (
	DefaultGatewayNamespace = "portico-gateways"
	DefaultGatewayClass     = "alb"
	lookForKinds            = 30 * time.Second
	gatherChanges           = time.Second // little beside the minutes that a certificate takes
)

// The kinds of hostname that teams and admins know.
const (
	kindRequest = "GatewayHostnameRequest"
	kindPool    = "PoolGateway"
)

// mostHostnames at work at the same time: a pass waits for Route 53 most of its time, and those that wait together share
// a request.
const mostHostnames = 40

// hostnames sets the controllers of hostnames up.
type hostnames struct {
	mgr  ctrl.Manager
	deps deps
	o    Options
	apps controller.Controller // of web apps, which routes belong to
	// queues of changes to hosted zones, by account, whatever providers and regions lead to it.
	queues *sync.Map
	until  <-chan struct{} // the operator ends
}

// indexes are of our own kinds, which are there whether or not the cluster has Gateway API.
func (h hostnames) indexes(ctx context.Context) error {
	indexer := h.mgr.GetFieldIndexer()
	for _, one := range []struct {
		obj   client.Object
		name  string
		value client.IndexerFunc
	}{
		{&v1alpha1.GatewayHostnameRequest{}, providerIndex, providerOf},
		{&v1alpha1.PoolGateway{}, providerIndex, providerOf},
		{&v1alpha1.GatewayHostnameRequest{}, pool.Index, func(o client.Object) []string { return named(o.(*v1alpha1.GatewayHostnameRequest).Status.Gateway) }},
		{&v1alpha1.DomainClaim{}, pool.Index, func(o client.Object) []string { return named(o.(*v1alpha1.DomainClaim).Spec.Gateway) }},
		{&v1alpha1.DomainClaim{}, hostname.NamespaceIndex, func(o client.Object) []string { return named(o.(*v1alpha1.DomainClaim).Spec.Holder.Namespace) }},
	} {
		if err := indexer.IndexField(ctx, one.obj, one.name, one.value); err != nil {
			return fmt.Errorf("index %T by %s: %w", one.obj, one.name, err)
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

// setupHostnames makes the controllers of hostnames start as soon as the cluster has what they need: now, if it has.
func setupHostnames(ctx context.Context, h hostnames) error {
	if err := h.indexes(ctx); err != nil {
		return err
	}
	g := &gate{
		feature: inspect.FeatureHostnames, needs: check.HostnameKinds(), mgr: h.mgr, every: h.o.Hostnames.Look, tell: h.deps.features, open: h.setup,
	}
	open, err := g.try()
	if err != nil || open {
		return err
	}
	return h.mgr.Add(g)
}

// setup registers the controllers with the manager, which may run already.
func (h hostnames) setup() error {
	kube, live := h.mgr.GetClient(), h.mgr.GetAPIReader()
	hostname.Certificates.Follow(h.mgr)
	pool.Fill.Follow(h.mgr)
	claims := &claim.Claims{Client: kube, Live: live, Namespace: h.o.Namespace}
	classes := pool.Classes{Client: kube, Live: live}
	requests := hostname.Work{
		Reader: kube, Claims: claims, Class: h.o.Hostnames.Class, Classes: classes, Connect: h.account, Now: h.deps.now,
		Places: pool.Places{Client: kube, Live: live, Namespace: h.o.Hostnames.Namespace},
		Pace:   hostname.Paces{Client: kube, Live: live}.Take,
	}
	patient := h.deps.engine
	patient.Workers = max(patient.Workers, mostHostnames)
	return first(
		h.routeIndexes(),
		watchRoutes(h.mgr, h.apps),
		engine.Setup(h.mgr, &v1alpha1.GatewayHostnameRequest{}, requests, patient, h.watchedByRequests),
		engine.Setup(h.mgr, &v1alpha1.PoolGateway{}, pool.Work{
			Writer: owned.Writer{Client: kube, Live: live}, Classes: classes, Balancers: h.balancers,
			Looks: &pool.Looks{Age: h.deps.scaled(settling)}, Retire: claims.Retire, Youth: h.deps.scaled(settling), Now: h.deps.now,
		}, h.deps.engine, h.watchedByPool),
		engine.Setup(h.mgr, &v1alpha1.DomainClaim{}, claim.Work{Reader: kube, Live: live}, h.deps.engine, func(b *builder.Builder) {
			b.Watches(&v1alpha1.GatewayHostnameRequest{}, toClaim(), builder.WithPredicates(claimMoved()))
		}),
		engine.Setup(h.mgr, &v1alpha1.HostnameGrant{}, hostname.Grants{Reader: kube}, h.deps.engine, func(b *builder.Builder) {
			b.Watches(&v1alpha1.DomainClaim{}, toGrant(), builder.WithPredicates(cameOrWent()))
		}),
	)
}

// routeIndexes make routes findable by their ListenerSets.
func (h hostnames) routeIndexes() error {
	for _, route := range []client.Object{&gatewayv1.HTTPRoute{}, &gatewayv1.GRPCRoute{}} {
		if err := h.mgr.GetFieldIndexer().IndexField(context.Background(), route, pool.RouteIndex, pool.ListenerSetsOf); err != nil {
			return fmt.Errorf("index %T by its ListenerSets: %w", route, err)
		}
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (h hostnames) watchedByRequests(b *builder.Builder) {
	request := &v1alpha1.GatewayHostnameRequest{}
	everywhere := func(client.Object) client.ListOption { return client.InNamespace("") }
	b.Watches(&v1alpha1.AWSProvider{}, usersOf(h.mgr, request), builder.WithPredicates(providerTurned()))
	b.Watches(&v1alpha1.AWSProvider{}, waitingUsersOf(h.mgr, request), builder.WithPredicates(newCredentials()))
	beside := func(g client.Object) client.ListOption { return client.InNamespace(g.GetNamespace()) }
	b.Watches(&v1alpha1.HostnameGrant{}, wake(h.mgr, request, beside), builder.WithPredicates(declared()))
	b.WatchesMetadata(&corev1.Namespace{}, within(h.mgr, request), builder.WithPredicates(namespaceTurned()))
	onIt := func(g client.Object) client.ListOption { return client.MatchingFields{pool.Index: g.GetName()} }
	b.Watches(&v1alpha1.PoolGateway{}, wake(h.mgr, request, onIt), builder.WithPredicates(poolTurned()))
	b.Watches(&v1alpha1.PoolGateway{}, wake(h.mgr, request, onIt, waiting), builder.WithPredicates(poolMoved()))
	b.Watches(&v1alpha1.DomainClaim{}, toHolder(), builder.WithPredicates(gone()))
	b.Watches(&v1alpha1.DomainClaim{}, wake(h.mgr, request, everywhere, lost), builder.WithPredicates(gone()))
	b.Watches(&gatewayv1.ListenerSet{}, h.toClaimant())
	b.Watches(&gatewayv1.GatewayClass{}, wake(h.mgr, request, everywhere, waiting), builder.WithPredicates(declared()))
}

func (h hostnames) watchedByPool(b *builder.Builder) {
	b.Owns(&gatewayv1.Gateway{})
	b.Owns(&gatewayv1.ListenerSet{}, builder.WithPredicates(touched(), declared()))
	b.Owns(&gatewayv1.HTTPRoute{}, builder.WithPredicates(touched(), declared()))
	b.Owns(&albconfig.LoadBalancerConfiguration{}, builder.WithPredicates(touched(), declared()))
	b.Watches(&v1alpha1.AWSProvider{}, usersOf(h.mgr, &v1alpha1.PoolGateway{}), builder.WithPredicates(providerTurned()))
	b.Watches(&v1alpha1.GatewayHostnameRequest{}, h.toPool(), builder.WithPredicates(membershipMoved()))
	b.Watches(&v1alpha1.DomainClaim{}, h.toPool(), builder.WithPredicates(declared()))
	b.Watches(&gatewayv1.HTTPRoute{}, h.routeToPools(), builder.WithPredicates(declared()))
	b.Watches(&gatewayv1.GRPCRoute{}, h.routeToPools(), builder.WithPredicates(declared()))
	b.Watches(&gatewayv1.GatewayClass{}, wake(h.mgr, &v1alpha1.PoolGateway{}, func(client.Object) client.ListOption { return client.InNamespace("") }), builder.WithPredicates(declared()))
}

// account opens what a request needs of AWS, each part shared with other requests.
func (h hostnames) account(ctx context.Context, r *v1alpha1.GatewayHostnameRequest) (*hostname.Account, error) {
	s, err := h.deps.connector.OpenFor(ctx, cloud.Use{
		Kind: kindRequest, Namespace: r.Namespace, Provider: r.Spec.ProviderRef.Name, Region: r.Status.Region,
		AccountID: r.Status.AccountID, Held: r.Status.Claim != "", Leaving: !r.DeletionTimestamp.IsZero(),
	})
	if err != nil {
		return nil, err
	}
	queues, _ := h.queues.LoadOrStore(s.AccountID, &dns.Queues{Window: h.o.Hostnames.Gather, Until: h.until})
	return &hostname.Account{
		ID: s.AccountID, Region: s.Config.Region, Cluster: s.Identity.Cluster,
		Zones: cloud.Shared(s, func() *dns.Zones {
			return dns.New(route53.NewFromConfig(s.Config), queues.(*dns.Queues), h.deps.now, h.deps.scaled(settling))
		}),
		Certs:  cert.Certificates{ACM: acm.NewFromConfig(s.Config), Tags: resourcegroupstaggingapi.NewFromConfig(s.Config)},
		Tags:   func(r *v1alpha1.GatewayHostnameRequest) map[string]string { return s.Tags(asHolder(r), nil) },
		Search: func(r *v1alpha1.GatewayHostnameRequest) map[string][]string { return s.Identity.Search(asHolder(r)) },
		Prove:  func(ctx context.Context) error { return h.deps.connector.Prove(ctx, s, r.Namespace) },
	}, nil
}

// asHolder returns the request under the UID by which it has its hostname.
func asHolder(r *v1alpha1.GatewayHostnameRequest) *v1alpha1.GatewayHostnameRequest {
	holder := *r
	holder.UID = r.HolderUID()
	return &holder
}

func (h hostnames) balancers(ctx context.Context, g *v1alpha1.PoolGateway) (pool.Balancers, error) {
	s, err := h.deps.connector.OpenFor(ctx, cloud.Use{
		Kind: kindPool, Namespace: g.Namespace, Provider: g.Spec.ProviderRef.Name, Region: g.Spec.Region,
		AccountID: g.Spec.AccountID, Held: true, Leaving: !g.DeletionTimestamp.IsZero(), Platform: true,
	})
	if err != nil {
		return pool.Balancers{}, err
	}
	return pool.Balancers{API: elasticloadbalancingv2.NewFromConfig(s.Config)}, nil
}
