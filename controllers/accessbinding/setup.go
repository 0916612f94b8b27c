package accessbinding

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// Options configures the controller of AccessBindings.
type Options struct {
	Engine    engine.Options
	Connector cloud.Connector
	// Kinds are the kinds to which rights can be given, by name.
	Kinds  map[string]client.Object
	Scaled func(time.Duration) time.Duration
}

// Setup registers the controller with the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	proto := &v1alpha1.AccessBinding{}
	if err := watch.IndexProviders(ctx, mgr, proto); err != nil {
		return err
	}
	rec := Reconciler{
		Connect: connect(o.Connector, ofResources), Cluster: connect(o.Connector, ofCluster),
		Resource: resourceIn(mgr, o.Kinds), ServiceAccount: serviceAccountAt(mgr.GetAPIReader()),
		Others:   othersAt(mgr.GetAPIReader()),
		Siblings: siblingsAt(mgr.GetAPIReader()), Now: o.Engine.Now, Scaled: o.Scaled,
	}
	return engine.Setup(mgr, proto, rec, o.Engine, func(b *builder.Builder) {
		b.Watches(&v1alpha1.AWSProvider{}, watch.EnqueueUsers(mgr, proto),
			builder.WithPredicates(watch.ProviderChanged()))
		b.Watches(&v1alpha1.AWSProvider{}, watch.EnqueueWaitingUsers(mgr, proto),
			builder.WithPredicates(watch.CredentialsChanged()))
		b.WatchesMetadata(&corev1.Namespace{}, watch.EnqueueNamespace(mgr, proto),
			builder.WithPredicates(watch.NamespaceChanged()))
		b.Watches(&corev1.ServiceAccount{}, watch.EnqueueKey(func(account *corev1.ServiceAccount) client.ObjectKey {
			return client.ObjectKeyFromObject(account) // of a WebApp: others are not in the cache
		}), builder.WithPredicates(roleNamed()))
		for _, kind := range o.Kinds {
			b.Watches(kind, watch.EnqueueNaming(mgr, proto, kind), builder.WithPredicates(resourceChanged()))
		}
	})
}

// ofResources returns how an object uses the AWSProvider of its resources.
func ofResources(obj *v1alpha1.AccessBinding) cloud.ProviderUse {
	return cloud.ProviderUse{
		Provider: obj.Spec.ProviderRef.Name, Region: obj.Status.Region,
		AccountID: obj.Status.AccountID,
	}
}

// ofCluster returns how it uses the AWSProvider of the cluster. Admins have configured that, so the namespace need not
// be allowed there.
func ofCluster(obj *v1alpha1.AccessBinding) cloud.ProviderUse {
	at := obj.Status.ClusterAccount
	return cloud.ProviderUse{Provider: at.Provider, Region: at.Region, AccountID: at.AccountID, Platform: true}
}

// connect returns a function that connects an object to an AWSProvider's account.
func connect(c cloud.Connector, of func(*v1alpha1.AccessBinding) cloud.ProviderUse) func(
	context.Context, *v1alpha1.AccessBinding) (*Account, error) {
	return func(ctx context.Context, obj *v1alpha1.AccessBinding) (*Account, error) {
		use := of(obj)
		use.Kind, use.Namespace, use.HasResources, use.Deleting = v1alpha1.KindAccessBinding, obj.Namespace,
			obj.Status.AccountID != "", !obj.DeletionTimestamp.IsZero()
		session, err := c.OpenFor(ctx, use)
		if err != nil {
			return nil, err
		}
		provider := &v1alpha1.AWSProvider{}
		if err := c.Reader.Get(ctx, client.ObjectKey{Name: use.Provider}, provider); err != nil {
			return nil, fmt.Errorf("read the AWSProvider: %w", err)
		}
		if use.HasResources && !use.Deleting && !provider.DeletionTimestamp.IsZero() {
			return nil, engine.Blocked(v1alpha1.ReasonProviderDeleting, "the AWSProvider %s is being deleted, and "+
				"Pods get no rights by it any more; ask a platform admin for another one", use.Provider)
		}
		recheck := func(ctx context.Context) error { return c.Recheck(ctx, session, obj.Namespace) }
		return &Account{
			Session: session, Roles: iam.NewFromConfig(session.Config), Associations: eks.NewFromConfig(session.Config),
			Identity: provider.Spec.WorkloadIdentity, Region: provider.Spec.Region, Recheck: recheck,
		}, nil
	}
}

// resourceIn reads resources from the cache.
func resourceIn(mgr ctrl.Manager, kinds map[string]client.Object) func(
	ctx context.Context, kind, namespace, name string) (external.Object, error) {
	return func(ctx context.Context, kind, namespace, name string) (external.Object, error) {
		proto, ok := kinds[kind]
		if !ok {
			return nil, nil
		}
		obj := proto.DeepCopyObject().(external.Object)
		found, err := engine.Find(ctx, mgr.GetClient(), client.ObjectKey{Namespace: namespace, Name: name}, obj)
		if !found {
			return nil, err
		}
		return obj, nil
	}
}

// othersAt lists, past the cache, the other objects of the namespace that share the role: a new one must not lose it.
func othersAt(reader client.Reader) func(context.Context, *v1alpha1.AccessBinding) ([]v1alpha1.AccessBinding, error) {
	return func(ctx context.Context, obj *v1alpha1.AccessBinding) ([]v1alpha1.AccessBinding, error) {
		all, err := siblingsAt(reader)(ctx, obj)
		return slices.DeleteFunc(all, func(o v1alpha1.AccessBinding) bool {
			return o.UID == obj.UID || !o.DeletionTimestamp.IsZero() || o.Status.Mode == v1alpha1.WorkloadIdentityIRSA
		}), err
	}
}

// siblingsAt lists, past the cache, the objects of the namespace with the same AWSProvider, including obj.
func siblingsAt(reader client.Reader) func(context.Context, *v1alpha1.AccessBinding) ([]v1alpha1.AccessBinding, error) {
	return func(ctx context.Context, obj *v1alpha1.AccessBinding) ([]v1alpha1.AccessBinding, error) {
		var all v1alpha1.AccessBindingList
		if err := reader.List(ctx, &all, client.InNamespace(obj.Namespace)); err != nil {
			return nil, fmt.Errorf("list the AccessBindings of the namespace: %w", err)
		}
		return slices.DeleteFunc(all.Items, func(o v1alpha1.AccessBinding) bool {
			return o.Spec.ProviderRef != obj.Spec.ProviderRef
		}), nil
	}
}

// serviceAccountAt reads ServiceAccounts past the cache, which only has those of WebApps.
func serviceAccountAt(reader client.Reader) func(ctx context.Context, namespace, name string) (
	*metav1.PartialObjectMetadata, error) {
	return func(ctx context.Context, namespace, name string) (*metav1.PartialObjectMetadata, error) {
		account := &metav1.PartialObjectMetadata{}
		account.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
		err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, account)
		switch {
		case apierrors.IsNotFound(err):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("read the ServiceAccount: %w", err)
		}
		return account, nil
	}
}
