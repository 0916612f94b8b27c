package webapp

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// routesIn returns the cluster's support for hostnames.
func routesIn(mgr ctrl.Manager, off func() string) Routes {
	return Routes{
		DisabledReason: off,
		Address: func(ctx context.Context, namespace, name string) (Address, error) {
			r := &v1alpha1.GatewayHostnameRequest{}
			found, err := find(ctx, mgr, namespace, name, r)
			closed, why := closedBy(r)
			return Address{found, r.Status.Hostname, r.Status.URL, r.Status.ParentRef, closed, why}, err
		},
	}
}

// closings are the reasons of a hostname that accepts no routes.
var closings = []string{v1alpha1.ReasonOverBudget, v1alpha1.ReasonRouteUnsupported, v1alpha1.ReasonRouteSuspected}

// closedBy returns the reason why the hostname accepts no routes, and the explanation; empty while it accepts them.
func closedBy(r *v1alpha1.GatewayHostnameRequest) (reason, message string) {
	c := meta.FindStatusCondition(r.Status.Conditions, v1alpha1.StepListenerAttached)
	if c == nil || c.Status != metav1.ConditionFalse || !slices.Contains(closings, c.Reason) {
		return "", ""
	}
	return c.Reason, c.Message
}

// hostnameChanged passes changes that a WebApp may wait for.
func hostnameChanged() predicate.Predicate {
	return watch.Changed(func(was, is *v1alpha1.GatewayHostnameRequest) bool {
		before, _ := closedBy(was)
		after, _ := closedBy(is)
		return before != after || was.Status.Ready != is.Status.Ready || was.Status.URL != is.Status.URL ||
			!equality.Semantic.DeepEqual(was.Status.ParentRef, is.Status.ParentRef) ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
	})
}

// WatchRoutes enqueues WebApps when their routes change; it is called once the cluster has routes.
func WatchRoutes(mgr ctrl.Manager, apps controller.Controller) error {
	owner := handler.TypedEnqueueRequestForOwner[*gatewayv1.HTTPRoute](mgr.GetScheme(), mgr.GetRESTMapper(),
		&v1alpha1.WebApp{}, handler.OnlyControllerOwner())
	moved := predicate.TypedFuncs[*gatewayv1.HTTPRoute]{
		CreateFunc: func(event.TypedCreateEvent[*gatewayv1.HTTPRoute]) bool { return false },
	}
	if err := apps.Watch(source.Kind(mgr.GetCache(), &gatewayv1.HTTPRoute{}, owner, moved)); err != nil {
		return fmt.Errorf("watch the routes of web apps: %w", err)
	}
	return nil
}

func replicaSetChanged() predicate.Predicate {
	return watch.Changed(func(was, is *appsv1.ReplicaSet) bool {
		return was.Status.AvailableReplicas != is.Status.AvailableReplicas ||
			was.Annotations[RevisionAnnotation] != is.Annotations[RevisionAnnotation] ||
			!equality.Semantic.DeepEqual(was.Status.Conditions, is.Status.Conditions)
	})
}

func podStatusChanged() predicate.Predicate {
	return watch.Changed(func(was, is *corev1.Pod) bool { return !equality.Semantic.DeepEqual(was.Status, is.Status) })
}

// failuresGo passes no deletions of Pods but of those that are over: as long as they exist, they are a reason for
// trouble. The deletion of one that serves has changed the status before.
func failuresGo() predicate.Predicate {
	return predicate.Funcs{DeleteFunc: func(e event.DeleteEvent) bool {
		pod, ok := e.Object.(*corev1.Pod)
		return ok && podcause.Over(pod)
	}}
}

// bindingChanged passes changes that a WebApp may wait for.
func bindingChanged() predicate.Predicate {
	return watch.Changed(func(was, is external.Object) bool {
		_, before := was.AWS()
		_, after := is.AWS()
		return was.Common().Ready != is.Common().Ready || !equality.Semantic.DeepEqual(before.Binding, after.Binding) ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
	})
}

// rightsChanged passes changes of the AccessBinding that a WebApp may wait for, and foreign changes.
func rightsChanged() predicate.Predicate {
	return watch.Changed(func(was, is *v1alpha1.AccessBinding) bool {
		return !equality.Semantic.DeepEqual(was.Status, is.Status) || was.GetGeneration() != is.GetGeneration() ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
	})
}

// userChanged passes changes of database users that a WebApp may wait for, and foreign changes.
func userChanged() predicate.Predicate {
	return watch.Changed(func(was, is *v1alpha1.DatabaseUser) bool {
		return was.Status.Ready != is.Status.Ready ||
			!equality.Semantic.DeepEqual(was.Status.Binding, is.Status.Binding) ||
			!equality.Semantic.DeepEqual(was.Status.Conditions, is.Status.Conditions) ||
			was.GetGeneration() != is.GetGeneration() ||
			was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
	})
}

// identityChanged passes an AWSProvider that gives Pods rights in a different way.
func identityChanged() predicate.Predicate {
	return predicate.And(watch.UpdatesOnly(), watch.Changed(func(was, is *v1alpha1.AWSProvider) bool {
		return was.Spec.WorkloadIdentity.GivesRights() != is.Spec.WorkloadIdentity.GivesRights()
	}))
}

// everywhere selects the objects of all namespaces.
func everywhere(client.Object) client.ListOption { return &client.ListOptions{} }

// isBound reports whether a WebApp is bound to anything.
func isBound(obj client.Object) bool { return len(obj.(*v1alpha1.WebApp).Spec.Bindings) > 0 }
