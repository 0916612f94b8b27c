package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/fair"
)

// Options configures the controllers.
type Options struct {
	Workers int           // objects of a kind reconciled concurrently; see fair.Queue
	Resync  time.Duration // how often an object in sync is compared again
	Timeout time.Duration // the longest that one pass may take
	Now     func() time.Time
	Records *Records // the engine's memory of its passes; nil: none, and no pass is routine
	// Teams maps namespaces to teams, which take turns; nil: each namespace is a team.
	Teams *fair.Teams
	// Scale multiplies poll intervals; 0: 1, suitable for AWS.
	Scale float64
	// History records earlier specs; nil records nothing.
	History *History
}

// Back-off of failures: controller-runtime's default goes up to 1,000 s, longer than users wait.
const firstRetry, lastRetry = time.Second, 5 * time.Minute

// Setup registers a controller for proto's kind that runs work. more adds watches; it may be nil.
func Setup[T Object](mgr ctrl.Manager, proto T, work KindReconciler[T], o Options, more func(*builder.Builder)) error {
	_, err := Build(mgr, proto, work, o, more)
	return err
}

// Build does what Setup does and returns the controller, for watches that are added later.
func Build[T Object](mgr ctrl.Manager, proto T, work KindReconciler[T], o Options, more func(*builder.Builder)) (
	controller.Controller, error,
) {
	gvk, err := apiutil.GVKForObject(proto, mgr.GetScheme())
	if err != nil {
		return nil, fmt.Errorf("set up a controller: %w", err)
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(proto, builder.WithPredicates(ownPredicates(o.Records, gvk.Kind)...)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: o.Workers + fair.Extra(o.Workers),
			NewQueue:                o.newQueue,
			ReconciliationTimeout:   o.Timeout,
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](
				firstRetry, lastRetry),
		})
	if more != nil {
		more(b)
	}
	r := &Reconciler[T]{
		Kind:           gvk.Kind,
		Client:         mgr.GetClient(),
		Events:         mgr.GetEventRecorder("portico"),
		KindReconciler: work,
		Schedule:       Schedule{Resync: o.Resync, Now: o.Now, Jitter: rand.Float64, Scale: o.Scale},
		Records:        o.Records,
		Teams:          o.Teams,
		History:        o.History,
	}
	collectKind(mgr, gvk, o.Now)
	return b.Build(reconcile.AsReconciler(mgr.GetClient(), r))
}

// newQueue returns the queue that replaces controller-runtime's.
func (o Options) newQueue(
	name string,
	limiter workqueue.TypedRateLimiter[reconcile.Request],
) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return fair.NewQueue(fair.QueueOptions{
		Name: name, Workers: o.Workers, TeamOf: o.Teams.Of, RateLimiter: limiter,
		Now: o.Now,
	})
}

// triggerAnnotations are the annotations whose change requests a pass.
var triggerAnnotations = []string{
	v1alpha1.AnnotationPaused,
	v1alpha1.AnnotationReconcileRequestedAt,
	v1alpha1.AnnotationAcknowledgeRecreate,
	v1alpha1.AnnotationRotatePassword,
	v1alpha1.AnnotationAuditInterval,
	v1alpha1.AnnotationRestartRequestedAt,
	v1alpha1.AnnotationRollback,
	v1alpha1.AnnotationKeep,
}

// triggersOf returns the values of the trigger annotations as one string.
func triggersOf(obj client.Object) string {
	values := make([]string, 0, len(triggerAnnotations))
	for _, key := range triggerAnnotations {
		values = append(values, obj.GetAnnotations()[key])
	}
	return strings.Join(values, "\n")
}

// ownPredicates returns the predicates of a kind's own objects, in order; the first that returns false filters the
// event.
func ownPredicates(records *Records, kind string) []predicate.Predicate {
	return []predicate.Predicate{forgetDeleted(records, kind), SpecOrTriggerChanged()}
}

// forgetDeleted drops the record of a deleted object; it passes every event.
func forgetDeleted(records *Records, kind string) predicate.Predicate {
	return predicate.Funcs{DeleteFunc: func(e event.DeleteEvent) bool {
		records.forget(kind, client.ObjectKeyFromObject(e.Object))
		return true
	}}
}

// SpecOrTriggerChanged passes events that need work: a new or deleted object, a changed spec, a trigger annotation. Our
// own status writes are filtered.
func SpecOrTriggerChanged() predicate.Predicate {
	return predicate.Funcs{
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			if e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
				e.ObjectOld.GetUID() != e.ObjectNew.GetUID() {
				return true
			}
			confirmed := (protection(e.ObjectOld) == nil) != (protection(e.ObjectNew) == nil)
			return triggersOf(e.ObjectOld) != triggersOf(e.ObjectNew) ||
				(confirmed && !e.ObjectNew.GetDeletionTimestamp().IsZero()) ||
				e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
		},
	}
}
