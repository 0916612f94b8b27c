package databaseuser

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/databaseuser/server"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// Options configure the controller of DatabaseUsers.
type Options struct {
	Engine  engine.Options
	Secrets external.Secrets
	Dialer  server.Dialer
	Scaled  func(time.Duration) time.Duration
}

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager, o Options) error {
	proto, rec := &v1alpha1.DatabaseUser{}, Reconciler{
		Database: databaseIn(mgr.GetClient()), Secrets: o.Secrets, Dialer: o.Dialer, Now: o.Engine.Now,
		Scaled: o.Scaled,
		Delete: deleteBy(mgr.GetClient()),
	}
	return engine.Setup(mgr, proto, rec, o.Engine, func(b *builder.Builder) {
		b.Watches(&v1alpha1.RDSInstance{}, watch.EnqueueNaming(mgr, proto, &v1alpha1.RDSInstance{}),
			builder.WithPredicates(databaseChanged()))
	})
}

// databaseIn returns a function that reads an RDSInstance from the cache; nil if there is none.
func databaseIn(reader client.Reader) func(ctx context.Context, namespace, name string) (*v1alpha1.RDSInstance, error) {
	return func(ctx context.Context, namespace, name string) (*v1alpha1.RDSInstance, error) {
		db := &v1alpha1.RDSInstance{}
		if found, err := engine.Find(ctx, reader, client.ObjectKey{Namespace: namespace, Name: name}, db); !found {
			return nil, err
		}
		return db, nil
	}
}

// deleteBy returns a function that deletes an object as it was read, not a newer one of the same name, nor one whose
// expiry was extended.
func deleteBy(c client.Client) func(ctx context.Context, obj *v1alpha1.DatabaseUser) error {
	return func(ctx context.Context, obj *v1alpha1.DatabaseUser) error {
		uid, version := obj.GetUID(), obj.GetResourceVersion()
		return client.IgnoreNotFound(
			c.Delete(ctx, obj.DeepCopy(), client.Preconditions{UID: &uid, ResourceVersion: &version}))
	}
}

// databaseChanged passes changes that users wait for: existence, state, address, password, and deletion of a database.
func databaseChanged() predicate.Predicate {
	return watch.Changed(func(was, is *v1alpha1.RDSInstance) bool {
		before, after := &was.Status, &is.Status
		return before.Ready != after.Ready || before.Endpoint != after.Endpoint || before.Port != after.Port ||
			version(before.Binding) != version(after.Binding) ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
	})
}

func version(b *v1alpha1.Binding) string {
	if b == nil {
		return ""
	}
	return b.ResourceVersion
}
