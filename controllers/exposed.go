package controllers

import (
	"context"
	"fmt"

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
	"sigs.k8s.io/controller-runtime/pkg/source"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/inspect"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/webapp"
)

// exposeIndex finds the web apps of a hostname in the cache.
const exposeIndex = "spec.expose.hostname"

func exposedAt(obj client.Object) []string {
	if e := obj.(*v1alpha1.WebApp).Spec.Expose; e != nil {
		return []string{e.Hostname}
	}
	return nil
}

// routesIn is what web apps need of hostnames.
func routesIn(mgr ctrl.Manager, d deps) webapp.Routes {
	return webapp.Routes{
		Off: func() string { return d.features.Why(inspect.FeatureHostnames) },
		Address: func(ctx context.Context, namespace, name string) (webapp.Address, error) {
			r := &v1alpha1.GatewayHostnameRequest{}
			err := mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, r)
			if apierrors.IsNotFound(err) {
				return webapp.Address{}, nil
			}
			if err != nil {
				return webapp.Address{}, err
			}
			found := webapp.Address{
				Found: true, Leaving: !r.DeletionTimestamp.IsZero(), Ready: r.Status.Ready, State: "it is not looked at yet",
				Hostname: r.Status.Hostname, URL: r.Status.URL, Parent: r.Status.ParentRef,
			}
			if ready := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
				found.State = ready.Message
			}
			return found, nil
		},
	}
}

// appsAt wakes the web apps that are exposed at a hostname.
func appsAt(mgr ctrl.Manager) handler.EventHandler {
	return wake(mgr, &v1alpha1.WebApp{}, func(o client.Object) client.ListOption {
		return &client.ListOptions{Namespace: o.GetNamespace(), FieldSelector: fields.OneTermEqualSelector(exposeIndex, o.GetName())}
	})
}

// addressTurned lets pass what a web app may wait for.
func addressTurned() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.GatewayHostnameRequest), e.ObjectNew.(*v1alpha1.GatewayHostnameRequest)
		return was.Status.Ready != is.Status.Ready || was.Status.URL != is.Status.URL || !equality.Semantic.DeepEqual(was.Status.ParentRef, is.Status.ParentRef) ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
	}}
}

// watchRoutes wakes web apps when their routes change; it is called once the cluster has routes.
func watchRoutes(mgr ctrl.Manager, apps controller.Controller) error {
	owner := handler.TypedEnqueueRequestForOwner[*gatewayv1.HTTPRoute](mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.WebApp{}, handler.OnlyControllerOwner())
	moved := predicate.TypedFuncs[*gatewayv1.HTTPRoute]{
		CreateFunc: func(event.TypedCreateEvent[*gatewayv1.HTTPRoute]) bool { return false },
	}
	if err := apps.Watch(source.Kind(mgr.GetCache(), &gatewayv1.HTTPRoute{}, owner, moved)); err != nil {
		return fmt.Errorf("watch the routes of web apps: %w", err)
	}
	return nil
}
