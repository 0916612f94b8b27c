package controllers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/owned"
	"github.com/portico-platform/portico/controllers/webapp"
)

// running are the Kubernetes objects of WebApps; the cache holds those that carry our label, and of Pods and ReplicaSets
// no more than what is looked at.
func running() map[client.Object]cache.ByObject {
	ours := k8slabels.SelectorFromSet(k8slabels.Set{owned.Label: owned.LabelValue})
	all := map[client.Object]cache.ByObject{
		&corev1.Pod{}:        {Label: ours, Transform: slim},
		&appsv1.ReplicaSet{}: {Label: ours, Transform: slim},
	}
	for _, obj := range []client.Object{
		&appsv1.Deployment{}, &corev1.Service{}, &corev1.ServiceAccount{}, &policyv1.PodDisruptionBudget{}, &autoscalingv2.HorizontalPodAutoscaler{},
	} {
		all[obj] = cache.ByObject{Label: ours}
	}
	return all
}

// slim keeps what webapp looks at.
func slim(in any) (any, error) {
	switch o := in.(type) {
	case *corev1.Pod:
		o.ManagedFields, o.Annotations = nil, nil
		o.Spec = corev1.PodSpec{NodeName: o.Spec.NodeName}
	case *appsv1.ReplicaSet:
		o.ManagedFields = nil
		images := o.Spec.Template.Spec.Containers
		for i := range images {
			images[i] = corev1.Container{Name: images[i].Name, Image: images[i].Image}
		}
		o.Spec.Template = corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: images}}
	}
	return in, nil
}

// Indexes of the cache.
const (
	bindingIndex = "spec.bindings"
	appIndex     = webapp.Index
)

func bindingsOf(obj client.Object) []string {
	var all []string
	for _, b := range obj.(*v1alpha1.WebApp).Spec.Bindings {
		all = append(all, b.Kind+"/"+b.Name)
	}
	return all
}

func appOf(obj client.Object) []string {
	if name := obj.GetLabels()[v1alpha1.LabelWebApp]; name != "" {
		return []string{name}
	}
	return nil
}

func setupWebApp(ctx context.Context, mgr ctrl.Manager, d deps) (controller.Controller, error) {
	for obj, index := range map[client.Object]func(client.Object) []string{&corev1.Pod{}: appOf, &appsv1.ReplicaSet{}: appOf} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, obj, appIndex, index); err != nil {
			return nil, fmt.Errorf("index %T by its web app: %w", obj, err)
		}
	}
	for name, index := range map[string]client.IndexerFunc{bindingIndex: bindingsOf, exposeIndex: exposedAt} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.WebApp{}, name, index); err != nil {
			return nil, fmt.Errorf("index web apps by %s: %w", name, err)
		}
	}
	work := webapp.Work{Writer: owned.Writer{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}, Bound: boundIn(mgr), Routes: routesIn(mgr, d)}
	return engine.Build(mgr, &v1alpha1.WebApp{}, work, d.engine, func(b *builder.Builder) {
		b.Owns(&appsv1.Deployment{}, builder.WithPredicates(touched()))
		b.Owns(&corev1.Service{}, builder.WithPredicates(touched()))
		b.Owns(&corev1.ServiceAccount{}, builder.WithPredicates(touched()))
		b.Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(touched(), declared()))
		b.Owns(&autoscalingv2.HorizontalPodAutoscaler{}, builder.WithPredicates(touched(), declared()))
		b.Watches(&appsv1.ReplicaSet{}, toApp(), builder.WithPredicates(touched(), setMoved())) // one that is gone is listed no more
		b.Watches(&corev1.Pod{}, toApp(), builder.WithPredicates(edited(), podMoved()))
		b.Watches(&v1alpha1.GatewayHostnameRequest{}, appsAt(mgr), builder.WithPredicates(addressTurned()))
		for name, k := range kinds {
			b.Watches(k.object, appsBoundTo(mgr, name), builder.WithPredicates(bindingTurned()))
		}
	})
}

// boundIn looks up what WebApps may be bound to: every kind that publishes connection details.
func boundIn(mgr ctrl.Manager) func(ctx context.Context, kind, namespace, name string) (webapp.Bound, error) {
	return func(ctx context.Context, kind, namespace, name string) (webapp.Bound, error) {
		row, ok := kinds[kind]
		if !ok {
			return webapp.Bound{}, nil
		}
		obj := row.object.DeepCopyObject().(external.Object)
		err := mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, obj)
		if apierrors.IsNotFound(err) {
			return webapp.Bound{}, nil
		}
		if err != nil {
			return webapp.Bound{}, err
		}
		found := webapp.Bound{Found: true, Leaving: obj.GetDeletionTimestamp() != nil, Ready: obj.Common().Ready}
		_, status := obj.AWS()
		found.Binding = status.Binding
		if ready := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady); ready != nil {
			found.State = ready.Message
		}
		return found, nil
	}
}

// toApp wakes the WebApp that a Pod or ReplicaSet says it runs for.
func toApp() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		var all []reconcile.Request
		for _, name := range appOf(o) {
			all = append(all, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}})
		}
		return all
	})
}

// appsBoundTo wakes the WebApps that are bound to the object of this kind.
func appsBoundTo(mgr ctrl.Manager, kind string) handler.EventHandler {
	wakeThem := func(o client.Object) client.ListOption {
		return &client.ListOptions{Namespace: o.GetNamespace(), FieldSelector: fields.OneTermEqualSelector(bindingIndex, kind+"/"+o.GetName())}
	}
	return wake(mgr, &v1alpha1.WebApp{}, wakeThem)
}

// touched lets pass edits and deletions: what is new was made by the pass that just ended.
func touched() predicate.Predicate {
	return predicate.Funcs{CreateFunc: func(event.CreateEvent) bool { return false }}
}

// declared lets pass what changes more than a status. An autoscaler's generation stays 0.
func declared() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld, e.ObjectNew
		if hpa, ok := was.(*autoscalingv2.HorizontalPodAutoscaler); ok && !equality.Semantic.DeepEqual(hpa.Spec, is.(*autoscalingv2.HorizontalPodAutoscaler).Spec) {
			return true
		}
		return was.GetGeneration() != is.GetGeneration() || was.GetUID() != is.GetUID() || was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero() ||
			!equality.Semantic.DeepEqual(was.GetLabels(), is.GetLabels()) || !equality.Semantic.DeepEqual(was.GetAnnotations(), is.GetAnnotations()) ||
			!equality.Semantic.DeepEqual(was.GetOwnerReferences(), is.GetOwnerReferences())
	}}
}

func setMoved() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*appsv1.ReplicaSet), e.ObjectNew.(*appsv1.ReplicaSet)
		return was.Status.AvailableReplicas != is.Status.AvailableReplicas || was.Annotations[webapp.RevisionAnnotation] != is.Annotations[webapp.RevisionAnnotation] ||
			!equality.Semantic.DeepEqual(was.Status.Conditions, is.Status.Conditions)
	}}
}

func podMoved() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(e.ObjectOld.(*corev1.Pod).Status, e.ObjectNew.(*corev1.Pod).Status)
	}}
}

// bindingTurned lets pass what a WebApp may wait for.
func bindingTurned() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(external.Object), e.ObjectNew.(external.Object)
			_, before := was.AWS()
			_, after := is.AWS()
			return was.Common().Ready != is.Common().Ready || !equality.Semantic.DeepEqual(before.Binding, after.Binding) ||
				was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
		},
	}
}
