package sns

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/sqs"
	"github.com/portico-platform/portico/controllers/watch"
)

// queueIndex finds the topics of a queue in the cache.
const queueIndex = "spec.subscriptions.queueRef.name"

// Index makes topics findable by their queues.
func Index(ctx context.Context, mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &v1alpha1.SNSTopic{}, queueIndex, queuesOf); err != nil {
		return fmt.Errorf("index subscriptions: %w", err)
	}
	return nil
}

func queuesOf(obj client.Object) (names []string) {
	for _, s := range obj.(*v1alpha1.SNSTopic).Spec.Subscriptions {
		names = append(names, s.QueueRef.Name)
	}
	return names
}

// WatchQueues wakes the topics of a queue that is there now, or another one.
func WatchQueues(b *builder.Builder, mgr ctrl.Manager) {
	waiting := watch.EnqueueMatching(mgr, &v1alpha1.SNSTopic{}, func(queue client.Object) client.ListOption {
		return &client.ListOptions{Namespace: queue.GetNamespace(), FieldSelector: fields.OneTermEqualSelector(queueIndex, queue.GetName())}
	})
	b.Watches(&v1alpha1.SQSQueue{}, waiting, builder.WithPredicates(watch.UpdatesOnly(), sqs.QueueChanged()))
}
