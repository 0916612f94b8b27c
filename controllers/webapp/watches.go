package webapp

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// exposeIndex finds the web apps of a hostname in the cache.
const exposeIndex = "spec.expose.hostname"

func exposedAt(obj client.Object) []string {
	if e := obj.(*v1alpha1.WebApp).Spec.Expose; e != nil {
		return []string{e.Hostname}
	}
	return nil
}

// routesIn returns what web apps need of hostnames.
func routesIn(mgr ctrl.Manager, off func() string) Routes {
	return Routes{
		DisabledReason: off,
		Address: func(ctx context.Context, namespace, name string) (Address, error) {
			r := &v1alpha1.GatewayHostnameRequest{}
			err := mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, r)
			if apierrors.IsNotFound(err) {
				return Address{}, nil
			}
			if err != nil {
				return Address{}, err
			}
			found := Address{
				Found: true, Deleting: !r.DeletionTimestamp.IsZero(), Ready: r.Status.Ready, State: "it is not looked at yet",
				Hostname: r.Status.Hostname, URL: r.Status.URL, Parent: r.Status.ParentRef,
			}
			if ready := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
				found.State = ready.Message
			}
			return found, nil
		},
	}
}

// enqueueExposedApps wakes the web apps that are exposed at a hostname.
func enqueueExposedApps(mgr ctrl.Manager) handler.EventHandler {
	return watch.EnqueueMatching(mgr, &v1alpha1.WebApp{}, func(o client.Object) client.ListOption {
		return &client.ListOptions{Namespace: o.GetNamespace(), FieldSelector: fields.OneTermEqualSelector(exposeIndex, o.GetName())}
	})
}

// hostnameChanged lets pass what a web app may wait for.
func hostnameChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.GatewayHostnameRequest), e.ObjectNew.(*v1alpha1.GatewayHostnameRequest)
		return was.Status.Ready != is.Status.Ready || was.Status.URL != is.Status.URL || !equality.Semantic.DeepEqual(was.Status.ParentRef, is.Status.ParentRef) ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
	}}
}

// WatchRoutes wakes web apps when their routes change; it is called once the cluster has routes.
func WatchRoutes(mgr ctrl.Manager, apps controller.Controller) error {
	owner := handler.TypedEnqueueRequestForOwner[*gatewayv1.HTTPRoute](mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.WebApp{}, handler.OnlyControllerOwner())
	moved := predicate.TypedFuncs[*gatewayv1.HTTPRoute]{
		CreateFunc: func(event.TypedCreateEvent[*gatewayv1.HTTPRoute]) bool { return false },
	}
	if err := apps.Watch(source.Kind(mgr.GetCache(), &gatewayv1.HTTPRoute{}, owner, moved)); err != nil {
		return fmt.Errorf("watch the routes of web apps: %w", err)
	}
	return nil
}

// enqueueApp wakes the WebApp that a Pod or ReplicaSet says it runs for.
func enqueueApp() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		var all []reconcile.Request
		for _, name := range appOf(o) {
			all = append(all, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}})
		}
		return all
	})
}

// enqueueBoundApps wakes the WebApps that are bound to the object of this kind.
func enqueueBoundApps(mgr ctrl.Manager, kind string) handler.EventHandler {
	wakeThem := func(o client.Object) client.ListOption {
		return &client.ListOptions{Namespace: o.GetNamespace(), FieldSelector: fields.OneTermEqualSelector(bindingIndex, kind+"/"+o.GetName())}
	}
	return watch.EnqueueMatching(mgr, &v1alpha1.WebApp{}, wakeThem)
}

func replicaSetChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*appsv1.ReplicaSet), e.ObjectNew.(*appsv1.ReplicaSet)
		return was.Status.AvailableReplicas != is.Status.AvailableReplicas || was.Annotations[RevisionAnnotation] != is.Annotations[RevisionAnnotation] ||
			!equality.Semantic.DeepEqual(was.Status.Conditions, is.Status.Conditions)
	}}
}

func podStatusChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return !equality.Semantic.DeepEqual(e.ObjectOld.(*corev1.Pod).Status, e.ObjectNew.(*corev1.Pod).Status)
	}}
}

// bindingChanged lets pass what a WebApp may wait for.
func bindingChanged() predicate.Predicate {
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
