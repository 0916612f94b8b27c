package sqs

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/watch"
)

// deadLetterIndex finds the queues of a dead-letter queue in the cache.
const deadLetterIndex = "spec.deadLetterQueue.targetRef.name"

// Index makes queues findable by their dead-letter queue.
func Index(ctx context.Context, mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.SQSQueue{}, deadLetterIndex, deadLetterOf); err != nil {
		return fmt.Errorf("index dead-letter queues: %w", err)
	}
	return nil
}

func deadLetterOf(obj client.Object) []string {
	if dlq := obj.(*v1alpha1.SQSQueue).Spec.DeadLetterQueue; dlq != nil && dlq.TargetRef != nil {
		return []string{dlq.TargetRef.Name}
	}
	return nil
}

// WatchDeadLetterQueues wakes the queues that wait for another one of their namespace.
func WatchDeadLetterQueues(b *builder.Builder, mgr ctrl.Manager) {
	waiting := watch.EnqueueMatching(mgr, &v1alpha1.SQSQueue{}, func(target client.Object) client.ListOption {
		return &client.ListOptions{Namespace: target.GetNamespace(), FieldSelector: fields.OneTermEqualSelector(deadLetterIndex, target.GetName())}
	})
	b.Watches(&v1alpha1.SQSQueue{}, waiting, builder.WithPredicates(watch.UpdatesOnly(), QueueChanged()))
}

// QueueChanged passes the updates of an SQSQueue that those who refer to it wait for: its ARN, and that it was Ready once.
func QueueChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.SQSQueue), e.ObjectNew.(*v1alpha1.SQSQueue)
		return was.Status.ARN != is.Status.ARN || (was.Status.FirstReadyTime == nil) != (is.Status.FirstReadyTime == nil)
	}}
}
