package keep

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Cached returns the cache settings for records: the operator's namespace only.
func Cached(namespace string) cache.ByObject {
	return cache.ByObject{Namespaces: map[string]cache.Config{
		namespace: {LabelSelector: labels.SelectorFromSet(labels.Set{Label: "true"})},
	}}
}

// Setup registers the controller of records with the manager. It starts with the records that an earlier process left.
func (k Keeper) Setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("keep").For(&corev1.ConfigMap{}).Complete(
		reconcile.AsReconciler(k.Client, k))
}
