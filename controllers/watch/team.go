package watch

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// EnqueueTeam enqueues every object of proto's kind in the namespaces of the changed Team.
func EnqueueTeam(mgr ctrl.Manager, proto client.Object) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, changed client.Object) []reconcile.Request {
		var all []reconcile.Request
		for _, ns := range namespacesOf(changed.(*v1alpha1.Team)) {
			err := Each(ctx, mgr, proto, func(o client.Object) {
				all = append(all, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
			}, client.InNamespace(ns))
			if err != nil {
				log.FromContext(ctx).Error(err, "find the resources that a change concerns", "changed",
					changed.GetName())
			}
		}
		return all
	})
}

// namespacesOf returns the namespaces in the Team's spec and in its status.
func namespacesOf(t *v1alpha1.Team) []string {
	names := t.NamespaceNames()
	for _, ns := range t.Status.Namespaces {
		if !slices.Contains(names, ns.Name) {
			names = append(names, ns.Name)
		}
	}
	return names
}

// TeamRulesChanged passes updates that change what the Team's namespaces can request, and every creation and deletion.
func TeamRulesChanged() predicate.Predicate {
	return Changed(func(was, is *v1alpha1.Team) bool {
		return was.UID != is.UID || !equality.Semantic.DeepEqual(was.Spec.Guardrails, is.Spec.Guardrails) ||
			!equality.Semantic.DeepEqual(was.Spec.Providers, is.Spec.Providers) ||
			!equality.Semantic.DeepEqual(was.Spec.Defaults, is.Spec.Defaults)
	})
}
