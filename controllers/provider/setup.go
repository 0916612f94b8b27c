package provider

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/watch"
)

// Options are what the controller of AWSProviders needs.
type Options struct {
	Sessions *cloud.Sessions
	Engine   engine.Options
	// Resync is how often credentials are checked again; 0: Revalidate.
	Resync time.Duration
	// Users are all kinds that refer to a provider, by name.
	Users map[string]watch.ProviderUser
}

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager, o Options) error {
	u := users{mgr: mgr, kinds: o.Users}
	reconciler := Reconciler{
		Sessions: o.Sessions, Now: o.Engine.Now, Throttled: o.Sessions.Limiters.Throttled,
		ListUsers: u.list, ListUsersUncached: u.listUncached, Account: accountOf, Cluster: clusterOf(mgr, o.Sessions),
	}
	settings := o.Engine
	settings.Resync = cmp.Or(o.Resync, Revalidate)
	return engine.Setup(mgr, &v1alpha1.AWSProvider{}, reconciler, settings, func(b *builder.Builder) {
		watchSecrets(b, mgr)
		for _, proto := range o.Users {
			b.Watches(proto, enqueueDeletedProvider(mgr), builder.WithPredicates(reservationReleased()))
		}
	})
}

// clusterOf returns a function that opens a session for the AWSProvider of the cluster's account.
func clusterOf(mgr ctrl.Manager, sessions *cloud.Sessions) func(context.Context, string) (
	*v1alpha1.AWSProvider, *cloud.Session, error) {
	return func(ctx context.Context, name string) (*v1alpha1.AWSProvider, *cloud.Session, error) {
		p := &v1alpha1.AWSProvider{}
		if found, err := engine.Find(ctx, mgr.GetCache(), client.ObjectKey{Name: name}, p); !found {
			return nil, nil, err
		}
		session, err := sessions.For(ctx, p, "")
		if err == nil {
			err = cloud.CheckAccount(p, session)
		}
		return p, session, err
	}
}

// watchSecrets enqueues the providers that use a Secret of the operator's namespace when it changes. Only metadata is
// watched.
func watchSecrets(b *builder.Builder, mgr ctrl.Manager) {
	b.WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(
		func(ctx context.Context, secret client.Object) []reconcile.Request {
			list := &v1alpha1.AWSProviderList{}
			if err := mgr.GetCache().List(ctx, list); err != nil {
				log.FromContext(ctx).Error(err, "find the providers of a Secret", "secret", secret.GetName())
				return nil
			}
			var all []reconcile.Request
			for i := range list.Items {
				if cloud.UsesSecret(&list.Items[i].Spec, secret.GetName()) {
					all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
				}
			}
			return all
		}))
}
