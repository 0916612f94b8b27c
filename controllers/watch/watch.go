// Package watch holds the event handlers and predicates that the controllers of several kinds share.
package watch

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// ProviderIndex is the cache index of objects by their provider.
const ProviderIndex = "spec.providerRef.name"

// ProviderUser is an object that has something in the accounts of AWSProviders.
type ProviderUser interface {
	client.Object
	// Providers returns the names of the AWSProviders, which are the values in ProviderIndex.
	Providers() []string
	// Reserved reports whether it has something there, or where it will be created is decided. An object that only
	// refers to a provider has nothing there, and must not block its deletion.
	Reserved() bool
}

// IndexProviders indexes the objects of a kind by their providers.
func IndexProviders(ctx context.Context, mgr ctrl.Manager, proto ProviderUser) error {
	return Index(ctx, mgr, proto, ProviderIndex, func(obj client.Object) []string {
		return obj.(ProviderUser).Providers()
	})
}

// Index indexes the objects of obj's kind in the cache by values.
func Index(ctx context.Context, mgr ctrl.Manager, obj client.Object, index string, values client.IndexerFunc) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, obj, index, values); err != nil {
		return fmt.Errorf("index %T by %s: %w", obj, index, err)
	}
	return nil
}

// Referrer is an object whose spec refers to others of its namespace. References returns the values at all paths in the
// annotation portico.dev/refers of its CRD.
type Referrer interface {
	client.Object
	References() []v1alpha1.ObjectRef
}

// ReferenceIndex is the cache index of objects by what they refer to, with ReferenceKey values.
const ReferenceIndex = "references"

// ReferenceKey returns the value in ReferenceIndex for a referenced object.
func ReferenceKey(kind, name string) string { return kind + "/" + name }

// IndexReferences indexes the objects of a kind by what they refer to.
func IndexReferences(ctx context.Context, mgr ctrl.Manager, proto Referrer) error {
	return Index(ctx, mgr, proto, ReferenceIndex, func(obj client.Object) (all []string) {
		for _, r := range obj.(Referrer).References() {
			all = append(all, ReferenceKey(r.Kind, r.Name))
		}
		return all
	})
}

// Ref is a watch on objects to which others refer.
type Ref interface {
	Watch(b *builder.Builder, mgr ctrl.Manager)
}

// LocalRef watches objects of one kind for those of another that refer to them and wait for them; see Referrer.
type LocalRef struct {
	From Referrer            // the kind that refers
	To   client.Object       // the kind that is referred to
	When predicate.Predicate // which updates of To enqueue the objects that refer to it
}

// Watch enqueues the objects that refer to the changed object.
func (r LocalRef) Watch(b *builder.Builder, mgr ctrl.Manager) {
	b.Watches(r.To, EnqueueNaming(mgr, r.From, r.To), builder.WithPredicates(UpdatesOnly(), r.When))
}

// EnqueueNaming enqueues the objects of proto's kind that refer to the changed object, which is of the kind of named,
// in the same namespace.
func EnqueueNaming(mgr ctrl.Manager, proto Referrer, named client.Object) handler.EventHandler {
	kind := KindOf(mgr, named)
	return EnqueueMatching(mgr, proto, func(changed client.Object) client.ListOption {
		return Naming(kind, client.ObjectKeyFromObject(changed))
	})
}

// Naming selects the objects that refer to the object with this kind and key.
func Naming(kind string, key client.ObjectKey) client.ListOption {
	return &client.ListOptions{Namespace: key.Namespace, FieldSelector: fields.OneTermEqualSelector(
		ReferenceIndex, ReferenceKey(kind, key.Name))}
}

// Each calls each for every object of proto's kind in the cache that the options select. Objects are not copied, so
// each must not change them: otherwise a burst of changes would copy the whole cache again and again.
func Each(ctx context.Context, mgr ctrl.Manager, proto client.Object, each func(client.Object),
	chosen ...client.ListOption,
) error {
	kind := KindOf(mgr, proto)
	all, err := mgr.GetScheme().New(v1alpha1.GroupVersion.WithKind(kind + "List"))
	if err != nil {
		return err
	}
	chosen = append(chosen, client.UnsafeDisableDeepCopy)
	if err := mgr.GetCache().List(ctx, all.(client.ObjectList), chosen...); err != nil {
		return fmt.Errorf("list %s: %w", kind, err)
	}
	return meta.EachListItem(all, func(o runtime.Object) error {
		each(o.(client.Object))
		return nil
	})
}

// EnqueueUsers enqueues every object of proto's kind that refers to the changed provider.
func EnqueueUsers(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return EnqueueMatching(mgr, proto, func(p client.Object) client.ListOption {
		return client.MatchingFields{ProviderIndex: p.GetName()}
	})
}

// EnqueueWaitingUsers enqueues those that are not Ready: they may be waiting for new credentials.
func EnqueueWaitingUsers(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return EnqueueMatching(mgr, proto, func(p client.Object) client.ListOption {
		return client.MatchingFields{ProviderIndex: p.GetName()}
	},
		func(o client.Object) bool { return !o.(engine.Object).Common().Ready })
}

// Changed passes the updates for which differs returns true, and every creation and deletion.
func Changed[T client.Object](differs func(was, is T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return differs(e.ObjectOld.(T), e.ObjectNew.(T))
	}}
}

// CredentialsChanged passes updates of a provider after which new credentials were verified.
func CredentialsChanged() predicate.Predicate {
	return predicate.And(UpdatesOnly(), Changed(func(was, is *v1alpha1.AWSProvider) bool {
		return was.Status.CredentialsVersion != is.Status.CredentialsVersion
	}))
}

// NamespaceChanged passes updates that change a namespace's labels, on which permissions depend, its team or its former
// UIDs.
func NamespaceChanged() predicate.Predicate {
	return predicate.And(UpdatesOnly(),
		predicate.Or(predicate.LabelChangedPredicate{}, Changed(func(was, is client.Object) bool {
			const former = v1alpha1.AnnotationFormerUID
			return was.GetAnnotations()[former] != is.GetAnnotations()[former] ||
				was.GetAnnotations()[v1alpha1.AnnotationTeamUID] != is.GetAnnotations()[v1alpha1.AnnotationTeamUID]
		})))
}

// EnqueueNamespace enqueues every object of proto's kind in the changed namespace.
func EnqueueNamespace(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return EnqueueMatching(mgr, proto, func(ns client.Object) client.ListOption {
		return client.InNamespace(ns.GetName())
	})
}

// EnqueueMatching enqueues the objects of proto's kind that chosen selects for the changed object, if every function in
// only returns true for them.
func EnqueueMatching(mgr ctrl.Manager, proto client.Object, chosen func(client.Object) client.ListOption,
	only ...func(client.Object) bool,
) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, changed client.Object) []reconcile.Request {
		var all []reconcile.Request
		err := Each(ctx, mgr, proto, func(o client.Object) {
			for _, wants := range only {
				if !wants(o) {
					return
				}
			}
			all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
		}, chosen(changed))
		if err != nil {
			log.FromContext(ctx).Error(err, "find the resources that a change concerns", "changed", changed.GetName())
		}
		return all
	})
}

// UpdatesOnly passes updates only: creations and deletions do not concern objects that existed before.
func UpdatesOnly() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// ProviderChanged passes deletions of a provider, and updates after which it was reconciled at a new generation, or
// began or ceased to be authenticated. A new provider is not verified yet.
func ProviderChanged() predicate.Predicate {
	return predicate.And(NotCreated(), Changed(func(was, is *v1alpha1.AWSProvider) bool {
		return was.Status.ObservedGeneration != is.Status.ObservedGeneration || authenticated(was) != authenticated(is)
	}))
}

func authenticated(p *v1alpha1.AWSProvider) bool {
	return meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionAuthenticated)
}

// DeletionsOnly passes deletions only.
func DeletionsOnly() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// EnqueueOne enqueues the object whose key of returns for the changed object; none if the key's name is empty.
func EnqueueOne(of func(ctx context.Context, changed client.Object) client.ObjectKey) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, changed client.Object) []reconcile.Request {
		if key := of(ctx, changed); key.Name != "" {
			return []reconcile.Request{{NamespacedName: key}}
		}
		return nil
	})
}

// EnqueueKey enqueues the object whose key of derives from the changed object alone.
func EnqueueKey[T client.Object](of func(T) client.ObjectKey) handler.EventHandler {
	return EnqueueOne(func(_ context.Context, changed client.Object) client.ObjectKey { return of(changed.(T)) })
}

// CreatedOrDeleted passes creations and deletions.
func CreatedOrDeleted() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// NotCreated passes updates and deletions: a created object is usually the work of the pass that just ended.
func NotCreated() predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}
}

// SpecChanged passes updates that change more than the status.
func SpecChanged() predicate.Predicate {
	return Changed(func(was, is client.Object) bool {
		return was.GetGeneration() != is.GetGeneration() || was.GetUID() != is.GetUID() ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero() ||
			!equality.Semantic.DeepEqual(declared(was), declared(is)) ||
			!equality.Semantic.DeepEqual(was.GetLabels(), is.GetLabels()) ||
			!equality.Semantic.DeepEqual(was.GetAnnotations(), is.GetAnnotations()) ||
			!equality.Semantic.DeepEqual(was.GetOwnerReferences(), is.GetOwnerReferences())
	})
}

// declared returns the specified part of an object whose kind has no generation; nil for other kinds.
func declared(obj client.Object) any {
	switch o := obj.(type) {
	case *autoscalingv2.HorizontalPodAutoscaler:
		return o.Spec
	case *corev1.ResourceQuota:
		return o.Spec
	case *corev1.LimitRange:
		return o.Spec
	case *rbacv1.RoleBinding:
		return []any{o.RoleRef, o.Subjects}
	case *rbacv1.ClusterRoleBinding:
		return []any{o.RoleRef, o.Subjects}
	case *rbacv1.ClusterRole:
		return o.Rules
	}
	return nil
}

// KindOf returns the kind of a type in the manager's scheme. It panics if the type is not in there.
func KindOf(mgr ctrl.Manager, obj client.Object) string {
	gvk, err := apiutil.GVKForObject(obj, mgr.GetScheme())
	if err != nil {
		panic(err) // every type in use is in Scheme
	}
	return gvk.Kind
}
