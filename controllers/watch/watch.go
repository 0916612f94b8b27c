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
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// ProviderIndex finds the resources of a provider in the cache.
const ProviderIndex = "spec.providerRef.name"

// ProviderOf returns the values of an object in ProviderIndex: its own AWSProvider, and any other that it has something
// at.
func ProviderOf(obj client.Object) []string {
	switch o := obj.(type) {
	case external.Object:
		spec, _ := o.AWS()
		return []string{spec.ProviderRef.Name}
	case *v1alpha1.GatewayHostnameRequest:
		return []string{o.Spec.ProviderRef.Name}
	case *v1alpha1.AccessBinding:
		if at := o.Status.ClusterAccount; at != nil {
			return []string{o.Spec.ProviderRef.Name, at.Provider}
		}
		return []string{o.Spec.ProviderRef.Name}
	case *v1alpha1.PoolGateway:
		return []string{o.Spec.ProviderRef.Name}
	default:
		return nil
	}
}

// Index makes objects of obj's kind findable in the cache by the values of an index.
func Index(ctx context.Context, mgr ctrl.Manager, obj client.Object, index string, values client.IndexerFunc) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, obj, index, values); err != nil {
		return fmt.Errorf("index %T by %s: %w", obj, index, err)
	}
	return nil
}

// Referrer is an object whose spec names others of its namespace. For each path that the annotation portico.dev/refers
// of its CRD has, References returns what stands there.
type Referrer interface {
	client.Object
	References() []v1alpha1.ObjectRef
}

// ReferenceIndex finds the objects of a kind in the cache by what they name, as ReferenceKey writes it.
const ReferenceIndex = "references"

// ReferenceKey returns the value of ReferenceIndex for an object that is named.
func ReferenceKey(kind, name string) string { return kind + "/" + name }

// IndexReferences makes the objects of a kind findable by what they name.
func IndexReferences(ctx context.Context, mgr ctrl.Manager, proto Referrer) error {
	return Index(ctx, mgr, proto, ReferenceIndex, func(obj client.Object) (all []string) {
		for _, r := range obj.(Referrer).References() {
			all = append(all, ReferenceKey(r.Kind, r.Name))
		}
		return all
	})
}

// Ref says which objects wake others that name them.
type Ref interface {
	Watch(b *builder.Builder, mgr ctrl.Manager)
}

// LocalRef says that objects of one kind wait for those of another that they name; see Referrer.
type LocalRef struct {
	From Referrer            // of the kind that names
	To   client.Object       // of the kind that is named
	When predicate.Predicate // updates of what is named that wake those that name it
}

// Watch wakes the objects that name what has changed.
func (r LocalRef) Watch(b *builder.Builder, mgr ctrl.Manager) {
	b.Watches(r.To, EnqueueNaming(mgr, r.From, r.To), builder.WithPredicates(UpdatesOnly(), r.When))
}

// EnqueueNaming wakes every object of proto's kind that names what changed, which is of the kind of named, in its own
// namespace.
func EnqueueNaming(mgr ctrl.Manager, proto Referrer, named client.Object) handler.EventHandler {
	kind := KindOf(mgr, named)
	return EnqueueMatching(mgr, proto, func(changed client.Object) client.ListOption {
		return Naming(kind, client.ObjectKeyFromObject(changed))
	})
}

// Naming chooses the objects that name the one of this kind and key.
func Naming(kind string, key client.ObjectKey) client.ListOption {
	return &client.ListOptions{Namespace: key.Namespace, FieldSelector: fields.OneTermEqualSelector(ReferenceIndex, ReferenceKey(kind, key.Name))}
}

// Each calls each for every object of proto's kind in the cache that the options choose. Nothing is copied: each only
// reads, or a burst of changes would copy the whole cache again and again.
func Each(ctx context.Context, mgr ctrl.Manager, proto client.Object, each func(client.Object), chosen ...client.ListOption) error {
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

// EnqueueUsers wakes every object of proto's kind that refers to the provider that changed.
func EnqueueUsers(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return EnqueueMatching(mgr, proto, func(p client.Object) client.ListOption { return client.MatchingFields{ProviderIndex: p.GetName()} })
}

// EnqueueWaitingUsers wakes those that are not Ready: new credentials may be what they wait for.
func EnqueueWaitingUsers(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return EnqueueMatching(mgr, proto, func(p client.Object) client.ListOption { return client.MatchingFields{ProviderIndex: p.GetName()} },
		func(o client.Object) bool { return !o.(engine.Object).Common().Ready })
}

// Changed lets pass the updates of a kind in which differs finds what matters, and all that is new or gone.
func Changed[T client.Object](differs func(was, is T) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return differs(e.ObjectOld.(T), e.ObjectNew.(T)) }}
}

// CredentialsChanged lets pass a provider whose Secrets have changed and work.
func CredentialsChanged() predicate.Predicate {
	return predicate.And(UpdatesOnly(), Changed(func(was, is *v1alpha1.AWSProvider) bool {
		return was.Status.CredentialsVersion != is.Status.CredentialsVersion
	}))
}

// NamespaceChanged lets pass a namespace whose labels, which decide who may use what, or whose team or former UIDs are
// others.
func NamespaceChanged() predicate.Predicate {
	return predicate.And(UpdatesOnly(), predicate.Or(predicate.LabelChangedPredicate{}, Changed(func(was, is client.Object) bool {
		return was.GetAnnotations()[v1alpha1.AnnotationFormerUID] != is.GetAnnotations()[v1alpha1.AnnotationFormerUID] ||
			was.GetAnnotations()[v1alpha1.AnnotationTeamUID] != is.GetAnnotations()[v1alpha1.AnnotationTeamUID]
	})))
}

// EnqueueNamespace wakes every object of proto's kind in the namespace that changed.
func EnqueueNamespace(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return EnqueueMatching(mgr, proto, func(ns client.Object) client.ListOption { return client.InNamespace(ns.GetName()) })
}

// EnqueueMatching asks for a pass over the objects of proto's kind that chosen finds for what changed, and that all of
// only want.
func EnqueueMatching(mgr ctrl.Manager, proto client.Object, chosen func(client.Object) client.ListOption, only ...func(client.Object) bool) handler.EventHandler {
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

// UpdatesOnly lets pass updates only: what is new or gone concerns no object that was there before.
func UpdatesOnly() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// ProviderChanged lets pass a provider that is gone, starts or stops working, or is changed. One that is new is not
// checked yet.
func ProviderChanged() predicate.Predicate {
	return predicate.And(NotCreated(), Changed(func(was, is *v1alpha1.AWSProvider) bool {
		return was.Status.ObservedGeneration != is.Status.ObservedGeneration || authenticated(was) != authenticated(is)
	}))
}

func authenticated(p *v1alpha1.AWSProvider) bool {
	return meta.IsStatusConditionTrue(p.Status.Conditions, cloud.ConditionAuthenticated)
}

// DeletionsOnly lets pass deletions only.
func DeletionsOnly() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// EnqueueOne wakes the one object that of finds for what changed; an empty name wakes none.
func EnqueueOne(of func(ctx context.Context, changed client.Object) client.ObjectKey) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, changed client.Object) []reconcile.Request {
		if key := of(ctx, changed); key.Name != "" {
			return []reconcile.Request{{NamespacedName: key}}
		}
		return nil
	})
}

// EnqueueKey wakes the one object that an object of a kind leads to by itself.
func EnqueueKey[T client.Object](of func(T) client.ObjectKey) handler.EventHandler {
	return EnqueueOne(func(_ context.Context, changed client.Object) client.ObjectKey { return of(changed.(T)) })
}

// CreatedOrDeleted lets pass what is new or gone.
func CreatedOrDeleted() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// NotCreated lets pass edits and deletions: what is new was made by the pass that just ended.
func NotCreated() predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}
}

// SpecChanged lets pass what changes more than a status.
func SpecChanged() predicate.Predicate {
	return Changed(func(was, is client.Object) bool {
		return was.GetGeneration() != is.GetGeneration() || was.GetUID() != is.GetUID() || was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero() ||
			!equality.Semantic.DeepEqual(declared(was), declared(is)) ||
			!equality.Semantic.DeepEqual(was.GetLabels(), is.GetLabels()) || !equality.Semantic.DeepEqual(was.GetAnnotations(), is.GetAnnotations()) ||
			!equality.Semantic.DeepEqual(was.GetOwnerReferences(), is.GetOwnerReferences())
	})
}

// declared returns what people declare in an object of a kind whose generation stays 0; nil of others.
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

// KindOf returns the kind of a type that the manager knows.
func KindOf(mgr ctrl.Manager, obj client.Object) string {
	gvk, err := apiutil.GVKForObject(obj, mgr.GetScheme())
	if err != nil {
		panic(err) // every bound type is in Scheme
	}
	return gvk.Kind
}
