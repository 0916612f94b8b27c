package team

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	exchange "github.com/portico-platform/portico/controllers/deploy"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/watch"
)

// owned returns the kinds of objects that a Team owns, except HostnameGrants.
func owned() []client.Object {
	return []client.Object{
		&rbacv1.RoleBinding{}, &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}, &corev1.ResourceQuota{},
		&corev1.LimitRange{}, &networkingv1.NetworkPolicy{}, &corev1.ServiceAccount{},
	}
}

// CachedObjects returns the cache settings for the objects of Teams: only those with Portico's label are cached.
func CachedObjects() map[client.Object]cache.ByObject {
	all := map[client.Object]cache.ByObject{}
	for _, obj := range owned() {
		all[obj] = cache.ByObject{Label: k8slabels.SelectorFromSet(k8slabels.Set{apply.Label: apply.LabelValue})}
	}
	return all
}

// Options are what the controller of Teams needs.
type Options struct {
	Engine engine.Options
	// System are the namespaces of the platform, which no team can have.
	System []string
	// Requested are the kinds that teams request, by name.
	Requested map[string]client.Object
	// ClusterNetworks are the networks of Pods, Services and nodes, which are excluded where a team reaches the
	// internet.
	ClusterNetworks []netip.Prefix
}

// Indexes of Teams in the cache.
const (
	namespaceIndex = "spec.namespaces.name"
	providerIndex  = "spec.providers.name"
)

func providersOf(obj client.Object) []string {
	var all []string
	for _, p := range obj.(*v1alpha1.Team).Spec.Providers {
		all = append(all, p.Name)
	}
	return all
}

// repositoriesOf returns the repositories of a team's deployers, for the index.
func repositoriesOf(obj client.Object) []string {
	var all []string
	for _, d := range obj.(*v1alpha1.Team).Spec.Deployers {
		all = append(all, exchange.RepositoryKeys(d.Issuer, string(d.RepositoryID), d.Repository)...)
	}
	return all
}

// withDeployers enqueues the teams that have deployers.
func withDeployers(mgr ctrl.Manager) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		var teams v1alpha1.TeamList
		if err := mgr.GetClient().List(ctx, &teams); err != nil {
			return nil // the cache is not there yet; each team is reconciled at the start
		}
		var all []reconcile.Request
		for i := range teams.Items {
			if len(teams.Items[i].Spec.Deployers) > 0 {
				all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&teams.Items[i])})
			}
		}
		return all
	})
}

// Setup registers the controller with the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	for index, values := range map[string]client.IndexerFunc{
		namespaceIndex: func(obj client.Object) []string { return obj.(*v1alpha1.Team).NamespaceNames() },
		providerIndex:  providersOf, exchange.IndexRepository: repositoriesOf,
	} {
		if err := watch.Index(ctx, mgr, &v1alpha1.Team{}, index, values); err != nil {
			return err
		}
	}
	reconciler := Reconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), System: o.System,
		ClusterNetworks: o.ClusterNetworks, Count: counter{mgr, o.Requested}.count,
		Now: o.Engine.Now,
	}
	return engine.Setup(mgr, &v1alpha1.Team{}, reconciler, o.Engine, func(b *builder.Builder) {
		for _, obj := range owned() {
			b.Owns(obj, builder.WithPredicates(watch.NotCreated(), watch.SpecChanged()))
		}
		b.Owns(&v1alpha1.HostnameGrant{}, builder.WithPredicates(watch.NotCreated(), watch.SpecChanged()))
		b.WatchesMetadata(&corev1.Namespace{}, enqueueTeams(mgr),
			builder.WithPredicates(predicate.Or(watch.CreatedOrDeleted(), watch.SpecChanged())))
		b.Watches(&v1alpha1.AWSProvider{},
			watch.EnqueueMatching(mgr, &v1alpha1.Team{}, func(p client.Object) client.ListOption {
				return client.MatchingFields{providerIndex: p.GetName()}
			}), builder.WithPredicates(watch.SpecChanged()))
		b.Watches(&v1alpha1.DeployPolicy{}, withDeployers(mgr), builder.WithPredicates(watch.SpecChanged()))
		for _, proto := range o.Requested {
			b.Watches(proto, enqueueCount(mgr), builder.WithPredicates(watch.CreatedOrDeleted()))
		}
	})
}

// enqueueTeams enqueues the teams whose spec lists the changed namespace, and the team that its label names.
func enqueueTeams(mgr ctrl.Manager) handler.EventHandler {
	asked := func(ns client.Object) client.ListOption { return client.MatchingFields{namespaceIndex: ns.GetName()} }
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent,
			q workqueue.TypedRateLimitingInterface[reconcile.Request],
		) {
			watch.EnqueueMatching(mgr, &v1alpha1.Team{}, asked).Create(ctx, e, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent,
			q workqueue.TypedRateLimitingInterface[reconcile.Request],
		) {
			watch.EnqueueMatching(mgr, &v1alpha1.Team{}, asked).Update(ctx, e, q)
			addTeam(q, e.ObjectOld, 0)
			addTeam(q, e.ObjectNew, 0)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent,
			q workqueue.TypedRateLimitingInterface[reconcile.Request],
		) {
			watch.EnqueueMatching(mgr, &v1alpha1.Team{}, asked).Delete(ctx, e, q)
			addTeam(q, e.Object, 0)
		},
	}
}

func addTeam(q workqueue.TypedRateLimitingInterface[reconcile.Request], ns client.Object, after time.Duration) {
	if name := ns.GetLabels()[v1alpha1.LabelTeam]; name != "" {
		q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}, after)
	}
}

// countAfter is the delay that collects a burst of creations and deletions: the team's counts are written once for all
// of them.
const countAfter = 2 * time.Second

// enqueueCount enqueues the team of a namespace in which a requested object was created or deleted.
func enqueueCount(mgr ctrl.Manager) handler.EventHandler {
	add := func(ctx context.Context, obj client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		if ns, found, err := readNamespace(ctx, mgr.GetCache(), obj.GetNamespace()); err == nil && found {
			addTeam(q, ns, countAfter)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent,
			q workqueue.TypedRateLimitingInterface[reconcile.Request],
		) {
			if !e.IsInInitialList {
				add(ctx, e.Object, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent,
			q workqueue.TypedRateLimitingInterface[reconcile.Request],
		) {
			add(ctx, e.Object, q)
		},
	}
}

// counter counts the requested objects in a namespace.
type counter struct {
	mgr   ctrl.Manager
	kinds map[string]client.Object
}

func (c counter) count(ctx context.Context, namespace string) (map[string]int, error) {
	all := map[string]int{}
	for name, proto := range c.kinds {
		err := watch.Each(ctx, c.mgr, proto, func(client.Object) { all[name]++ }, client.InNamespace(namespace))
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", name, err)
		}
	}
	return all, nil
}
