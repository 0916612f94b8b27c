package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// providerIndex finds the resources of a provider in the cache.
const providerIndex = "spec.providerRef.name"

func providerOf(obj client.Object) []string {
	switch o := obj.(type) {
	case external.Object:
		spec, _ := o.AWS()
		return []string{spec.ProviderRef.Name}
	case *v1alpha1.GatewayHostnameRequest:
		return []string{o.Spec.ProviderRef.Name}
	case *v1alpha1.PoolGateway:
		return []string{o.Spec.ProviderRef.Name}
	default:
		return nil
	}
}

// list calls each for every object of proto's kind in the cache that the options choose. Nothing is copied: each only
// reads, or a burst of changes would copy the whole cache again and again.
func list(ctx context.Context, mgr ctrl.Manager, proto client.Object, each func(client.Object), chosen ...client.ListOption) error {
	kind := kindOf(mgr, proto)
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

// usersOf wakes every object of proto's kind that refers to the provider that changed.
func usersOf(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return wake(mgr, proto, func(p client.Object) client.ListOption { return client.MatchingFields{providerIndex: p.GetName()} })
}

// waitingUsersOf wakes those that are not Ready: new credentials may be what they wait for.
func waitingUsersOf(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return wake(mgr, proto, func(p client.Object) client.ListOption { return client.MatchingFields{providerIndex: p.GetName()} },
		func(o client.Object) bool { return !o.(engine.Object).Common().Ready })
}

// newCredentials lets pass a provider whose Secrets have changed and work.
func newCredentials() predicate.Predicate {
	return predicate.And(edited(), predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.AWSProvider), e.ObjectNew.(*v1alpha1.AWSProvider)
		return was.Status.CredentialsVersion != is.Status.CredentialsVersion
	}})
}

// namespaceTurned lets pass a namespace whose labels, which decide who may use what, or whose former UIDs are others.
func namespaceTurned() predicate.Predicate {
	return predicate.And(edited(), predicate.Or(predicate.LabelChangedPredicate{}, predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetAnnotations()[v1alpha1.AnnotationFormerUID] != e.ObjectNew.GetAnnotations()[v1alpha1.AnnotationFormerUID]
	}}))
}

// within wakes every object of proto's kind in the namespace that changed.
func within(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return wake(mgr, proto, func(ns client.Object) client.ListOption { return client.InNamespace(ns.GetName()) })
}

// wake asks for a pass over the objects of proto's kind that chosen finds for what changed, and that all of only want.
func wake(mgr ctrl.Manager, proto client.Object, chosen func(client.Object) client.ListOption, only ...func(client.Object) bool) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, changed client.Object) []reconcile.Request {
		var all []reconcile.Request
		err := list(ctx, mgr, proto, func(o client.Object) {
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

// deadLetterIndex finds the queues of a dead-letter queue in the cache.
const deadLetterIndex = "spec.deadLetterQueue.targetRef.name"

func deadLetterOf(obj client.Object) []string {
	if dlq := obj.(*v1alpha1.SQSQueue).Spec.DeadLetterQueue; dlq != nil && dlq.TargetRef != nil {
		return []string{dlq.TargetRef.Name}
	}
	return nil
}

// deadLetters wakes the queues that wait for another one of their namespace.
func deadLetters(b *builder.Builder, mgr ctrl.Manager) {
	b.Watches(&v1alpha1.SQSQueue{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, target client.Object) []reconcile.Request {
		var all []reconcile.Request
		err := list(ctx, mgr, &v1alpha1.SQSQueue{}, func(o client.Object) {
			all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
		}, client.InNamespace(target.GetNamespace()), client.MatchingFields{deadLetterIndex: target.GetName()})
		if err != nil {
			log.FromContext(ctx).Error(err, "find the queues of a dead-letter queue", "queue", target.GetName())
		}
		return all
	}), builder.WithPredicates(edited(), predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.SQSQueue), e.ObjectNew.(*v1alpha1.SQSQueue)
		return was.Status.ARN != is.Status.ARN || (was.Status.FirstReadyTime == nil) != (is.Status.FirstReadyTime == nil)
	}}))
}

// edited lets pass updates only: what is new or gone concerns no object that was there before.
func edited() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// providerTurned lets pass a provider that is new to its resources, starts or stops working, or is changed.
func providerTurned() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, // it is not checked yet
		DeleteFunc: func(event.DeleteEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1alpha1.AWSProvider), e.ObjectNew.(*v1alpha1.AWSProvider)
			return was.Status.ObservedGeneration != is.Status.ObservedGeneration || authenticated(was) != authenticated(is)
		},
	}
}

func authenticated(p *v1alpha1.AWSProvider) bool {
	return meta.IsStatusConditionTrue(p.Status.Conditions, cloud.ConditionAuthenticated)
}

// gone lets pass deletions only.
func gone() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// watchSecrets wakes the providers that read a Secret of the operator's namespace when it changes; only its metadata
// is watched.
func watchSecrets(b *builder.Builder, mgr ctrl.Manager) {
	b.WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, secret client.Object) []reconcile.Request {
		list := &v1alpha1.AWSProviderList{}
		if err := mgr.GetCache().List(ctx, list); err != nil {
			log.FromContext(ctx).Error(err, "find the providers of a Secret", "secret", secret.GetName())
			return nil
		}
		var all []reconcile.Request
		for i := range list.Items {
			if cloud.Uses(&list.Items[i].Spec, secret.GetName()) {
				all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
			}
		}
		return all
	}))
}
