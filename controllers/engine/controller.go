package engine

import (
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Options are what a deployment may tune.
type Options struct {
	Workers int           // objects of a kind at work at the same time
	Resync  time.Duration // how often an object in sync is compared again
	Timeout time.Duration // the longest that one pass may take
	Now     func() time.Time
}

// back-off of failures: controller-runtime's own default goes up to 1,000 s, longer than a user waits.
const firstRetry, lastRetry = time.Second, 5 * time.Minute

// Setup runs work for every object of proto's kind. more adds watches; it may be nil.
func Setup[T Object](mgr ctrl.Manager, proto T, work Work[T], o Options, more func(*builder.Builder)) error {
	gvk, err := apiutil.GVKForObject(proto, mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("set up a controller: %w", err)
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(proto, builder.WithPredicates(Changed())).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: o.Workers,
			ReconciliationTimeout:   o.Timeout,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		})
	if more != nil {
		more(b)
	}
	r := &Reconciler[T]{
		Kind:   gvk.Kind,
		Client: mgr.GetClient(),
		Events: mgr.GetEventRecorder("portico"),
		Work:   work,
		Pace:   Pace{Resync: o.Resync, Now: o.Now, Jitter: rand.Float64},
	}
	countResources(mgr, gvk)
	return b.Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// asked are the annotations whose change asks for a pass.
var asked = []string{
	v1alpha1.AnnotationPaused,
	v1alpha1.AnnotationReconcileRequestedAt,
	v1alpha1.AnnotationAcknowledgeRecreate,
}

// Changed lets pass what calls for work: a new or deleted object, a changed spec, an annotation that asks. Our own
// status writes are none of these.
func Changed() predicate.Predicate {
	return predicate.Funcs{
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			if e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() || e.ObjectOld.GetUID() != e.ObjectNew.GetUID() {
				return true
			}
			for _, key := range asked {
				if e.ObjectOld.GetAnnotations()[key] != e.ObjectNew.GetAnnotations()[key] {
					return true
				}
			}
			return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
		},
	}
}
