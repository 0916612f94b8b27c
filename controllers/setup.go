package controllers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	api "github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/accessbinding"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/databaseuser"
	"github.com/portico-platform/portico/controllers/databaseuser/server"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/fair"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/controllers/keep"
	"github.com/portico-platform/portico/controllers/operatorapi"
	"github.com/portico-platform/portico/controllers/provider"
	"github.com/portico-platform/portico/controllers/team"
	"github.com/portico-platform/portico/controllers/use"
	"github.com/portico-platform/portico/controllers/watch"
	"github.com/portico-platform/portico/controllers/webapp"
)

// Options are the settings of a deployment.
type Options struct {
	Namespace string // the operator's own, which has the providers' Secrets
	ClusterID string // in the ownership tags; empty: the UID of kube-system
	TokenFile string // the web identity token, if there is one
	// Endpoints that AWSProviders may name instead of AWS.
	Endpoints cloud.Endpoints
	Engine    engine.Options
	// ClusterNetworks are the networks of Pods, Services and nodes that are not in private ranges.
	ClusterNetworks []netip.Prefix
	// Rates are the limits of calls to AWS; nil: cloud.DefaultRates.
	Rates cloud.Rates
	// ProviderResync is how often credentials are verified again; 0: provider.Revalidate.
	ProviderResync time.Duration
	// SweepEvery is how often lists check that resources still exist; 0: five minutes.
	SweepEvery time.Duration
	// TimeScale multiplies poll intervals, and how long AWS may show an old state after a change; 0: 1, the times of
	// AWS itself. A simulator that settles faster uses less.
	TimeScale float64
	// Hostnames are the settings for hostnames.
	Hostnames Hostnames
	// Databases connects to databases to manage their users.
	Databases server.Dialer
	// OperatorAPI are the settings of the server for the portal; the zero value disables it.
	OperatorAPI operatorapi.Options
	// People configures whose tokens are accepted from people; without an issuer, requests for people are disabled.
	People identity.Settings
	// DeployAudience is the audience of tokens of CI jobs that are exchanged: the portal's URL. Without it, none are.
	DeployAudience string
}

// settling is the default time for which AWS may show an old state after a change.
const settling = time.Minute

// sweepEvery keeps the promise that a resource deleted outside Portico is noticed in about five minutes.
const sweepEvery = 5 * time.Minute

// Scheme returns a scheme with every kind that the operator handles.
func Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, gatewayv1.Install, albconfig.AddToScheme,
		apiextensionsv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err) // the types are compiled in: only a programming error can cause this
		}
	}
	return s
}

// Cache returns the cache settings: no managed fields, Secrets as metadata and only in the operator's own namespace,
// and of the objects that WebApps and Teams create only those with Portico's label.
func Cache(namespace string) cache.Options {
	objects := webapp.CachedObjects()
	objects[&corev1.ConfigMap{}] = keep.Cached(namespace)
	maps.Copy(objects, team.CachedObjects())
	objects[&corev1.Secret{}] = cache.ByObject{Namespaces: map[string]cache.Config{namespace: {}}}
	return cache.Options{DefaultTransform: stripUnread, ByObject: objects}
}

// stripUnread removes managed fields and kubectl's annotation, which the operator never reads from the cache. Both grow
// with the object, to any size its author chooses.
func stripUnread(in any) (any, error) {
	if obj, err := meta.Accessor(in); err == nil {
		obj.SetManagedFields(nil)
		if notes := obj.GetAnnotations(); notes[corev1.LastAppliedConfigAnnotation] != "" {
			delete(notes, corev1.LastAppliedConfigAnnotation)
		}
	}
	return in, nil
}

// Client returns the client settings: Portico's kinds are read from the cache, Secrets and ConfigMaps from the API
// server.
func Client() client.Options {
	return client.Options{Cache: &client.CacheOptions{
		DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}},
	}}
}

// deps are the dependencies that the kinds share.
type deps struct {
	connector cloud.Connector
	kube      external.Kube
	keeper    keep.Keeper
	engine    engine.Options
	timeScale float64
	enqueuer  *enqueuer // for sweeps
	features  *operatorapi.Features
}

// scaled returns a time of AWS multiplied by TimeScale.
func (d deps) scaled(t time.Duration) time.Duration { return time.Duration(float64(t) * d.timeScale) }

func (o *Options) setDefaults(ctx context.Context, mgr ctrl.Manager) (err error) {
	if o.ClusterID == "" {
		system := &corev1.Namespace{}
		if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, system); err != nil {
			return fmt.Errorf("read the cluster ID, which is the UID of the namespace %s: %w", metav1.NamespaceSystem,
				err)
		}
		o.ClusterID = string(system.UID)
	}
	if o.Rates == nil {
		o.Rates = cloud.DefaultRates()
	}
	o.Hostnames.Namespace = cmp.Or(o.Hostnames.Namespace, DefaultGatewayNamespace)
	o.Hostnames.Class = cmp.Or(o.Hostnames.Class, DefaultGatewayClass)
	o.Hostnames.RetryInterval = cmp.Or(o.Hostnames.RetryInterval, lookForKinds)
	o.Hostnames.BatchWindow = cmp.Or(o.Hostnames.BatchWindow, gatherChanges)
	o.Hostnames.Patience = cmp.Or(o.Hostnames.Patience, standstill)
	if o.Engine.Records == nil {
		o.Engine.Records = &engine.Records{}
	}
	findRun, err := findRuns(mgr)
	if err != nil {
		return err
	}
	o.Engine.History = &engine.History{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Run: findRun}
	o.Engine.Teams, err = fair.WatchTeams(ctx, mgr.GetCache())
	return err
}

// Setup registers every kind with mgr.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	if err := o.setDefaults(ctx, mgr); err != nil {
		return err
	}
	sessions := cloud.NewSessions(cloud.NamespaceSecrets{
		Namespace: o.Namespace, Reader: mgr.GetCache(), APIReader: mgr.GetAPIReader(),
	}, o.ClusterID, o.TokenFile, &cloud.Limiters{Rates: o.Rates, Now: o.Engine.Now})
	sessions.Endpoints = o.Endpoints
	d := deps{
		connector: cloud.Connector{
			Reader:    mgr.GetCache(),
			APIReader: cloud.NewJoined(mgr.GetAPIReader()),
			Sessions:  sessions,
		},
		kube: external.Kube{
			Reader:  mgr.GetClient(),
			Secrets: external.Secrets{APIReader: mgr.GetAPIReader(), Client: mgr.GetClient()},
		},
		keeper:    keep.Keeper{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Namespace: o.Namespace},
		engine:    o.Engine,
		timeScale: cmp.Or(o.TimeScale, 1),
		enqueuer:  newEnqueuer(),
		features:  &operatorapi.Features{},
	}
	d.engine.Scale = d.timeScale
	users := databaseuser.Options{Engine: d.engine, Secrets: d.kube.Secrets, Dialer: o.Databases, Scaled: d.scaled}
	if err := cmp.Or(setupDeletions(ctx, mgr, d), setupKinds(ctx, mgr, d), databaseuser.Setup(mgr, users)); err != nil {
		return err
	}
	apps, err := setupApps(ctx, mgr, d, o)
	if err != nil {
		return err
	}
	if err := setupHostnames(ctx, mgr, d, o, apps); err != nil {
		return fmt.Errorf("set up hostnames: %w", err)
	}
	if err := mgr.Add(sweeper(mgr, sessions, d.enqueuer, cmp.Or(o.SweepEvery, sweepEvery))); err != nil {
		return fmt.Errorf("set up sweeps: %w", err)
	}
	if err := setupOperatorAPI(mgr, d, o); err != nil {
		return fmt.Errorf("set up the view of checks: %w", err)
	}
	return setupTenancy(ctx, mgr, sessions, o)
}

// setupApps registers WebApp, and AccessBinding, which grants applications rights in AWS.
func setupApps(ctx context.Context, mgr ctrl.Manager, d deps, o Options) (controller.Controller, error) {
	apps, err := webapp.Setup(
		ctx, mgr, webapp.Options{Engine: o.Engine, Bindable: objects(), HostnamesOff: d.hostnamesOff})
	if err != nil {
		return nil, fmt.Errorf("set up WebApp: %w", err)
	}
	rights := accessbinding.Options{Engine: d.engine, Connector: d.connector, Kinds: objects(), Scaled: d.scaled}
	if err := accessbinding.Setup(ctx, mgr, rights); err != nil {
		return nil, fmt.Errorf("set up AccessBinding: %w", err)
	}
	return apps, nil
}

// setupTenancy registers Team and AWSProvider, which decide who can use what.
func setupTenancy(ctx context.Context, mgr ctrl.Manager, sessions *cloud.Sessions, o Options) error {
	teams := team.Options{
		Engine: o.Engine, System: []string{o.Namespace, o.Hostnames.Namespace, api.Namespace},
		Requested: requested(), ClusterNetworks: o.ClusterNetworks,
	}
	if err := team.Setup(ctx, mgr, teams); err != nil {
		return fmt.Errorf("set up Team: %w", err)
	}
	if err := setupCatalog(mgr, o); err != nil {
		return fmt.Errorf("set up CatalogEntry: %w", err)
	}
	return provider.Setup(mgr, provider.Options{
		Sessions: sessions, Engine: o.Engine, Resync: o.ProviderResync,
		Users: providerUsers(),
	})
}

// setupDeletions registers the controllers that protect against harmful deletions: marks of use, and records of
// deletions that are cancelled.
func setupDeletions(ctx context.Context, mgr ctrl.Manager, d deps) error {
	if err := use.Setup(ctx, mgr,
		use.Options{Users: referrers(), Used: referred(), AtWork: d.engine.Records.AtWork}); err != nil {
		return fmt.Errorf("set up the marks of what is in use: %w", err)
	}
	if err := d.keeper.Setup(mgr); err != nil {
		return fmt.Errorf("set up what is kept: %w", err)
	}
	return nil
}

// setupKinds registers the kinds in the table.
func setupKinds(ctx context.Context, mgr ctrl.Manager, d deps) error {
	for name, k := range kinds {
		if err := watch.IndexProviders(ctx, mgr, k.object); err != nil {
			return err
		}
		if admitter, ok := k.object.(watch.Admitter); ok {
			if err := watch.IndexAdmitted(ctx, mgr, admitter); err != nil {
				return err
			}
		}
		if err := k.setup(mgr, d, k.refs); err != nil {
			return fmt.Errorf("set up %s: %w", name, err)
		}
	}
	return nil
}

func setupAWS[T external.Object](mgr ctrl.Manager, proto T, reconciler engine.KindReconciler[T], d deps,
	refs []watch.Ref,
) error {
	return engine.Setup(mgr, proto, reconciler, d.engine, func(b *builder.Builder) {
		b.Watches(&v1alpha1.AWSProvider{}, watch.EnqueueUsers(mgr, proto),
			builder.WithPredicates(watch.ProviderChanged()))
		b.Watches(&v1alpha1.AWSProvider{}, watch.EnqueueWaitingUsers(mgr, proto),
			builder.WithPredicates(watch.CredentialsChanged()))
		b.WatchesMetadata(&corev1.Namespace{}, watch.EnqueueNamespace(mgr, proto),
			builder.WithPredicates(watch.NamespaceChanged()))
		b.Watches(&v1alpha1.Team{}, watch.EnqueueTeam(mgr, proto), builder.WithPredicates(watch.TeamRulesChanged()))
		b.WatchesRawSource(d.enqueuer.source(watch.KindOf(mgr, proto)))
		for _, r := range refs {
			r.Watch(b, mgr)
		}
	})
}
