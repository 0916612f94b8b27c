package sns

import (
	"cmp"
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/aws/sqs"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/watch"
)

// Resolve finds the queues and senders. A missing one blocks neither the topic nor the others, and an existing
// subscription stays.
func (t *topic) Resolve(ctx context.Context, obj *v1alpha1.SNSTopic) (err error) {
	if t.senders, err = senders.Resolve(ctx, t.kube, t.Session, obj.Namespace, obj.Spec.AllowFrom); err != nil {
		return err
	}
	for _, s := range obj.Spec.Subscriptions {
		to := target{address: cmp.Or(s.HTTPS, s.Email), filter: s.FilterPolicy}
		to.delivery = delivery{s.RawMessageDelivery, normalFilter(s.FilterPolicy), ""}.scoped(s.FilterPolicyScope)
		if s.QueueRef != nil {
			to.queue = s.QueueRef.Name
			if to.address, err = t.queue(ctx, obj, to.queue); t.note(err) != nil {
				return err
			}
			if err != nil {
				to.address = subscribedARN(obj, to.queue)
			}
		}
		if to.address != "" {
			t.targets = append(t.targets, to)
		}
	}
	return nil
}

// note stores a WaitError in Rest, for which the topic's own changes do not wait, and returns every other error.
func (t *topic) note(err error) error {
	if _, ok := engine.AsWait(err); !ok {
		return err
	}
	t.Rest = cmp.Or(t.Rest, err)
	return nil
}

// subscribedARN returns the ARN of the queue that was subscribed for the object with this name, empty if there is none.
func subscribedARN(obj *v1alpha1.SNSTopic, queue string) string {
	for _, made := range obj.Status.Subscriptions {
		if made.Queue == queue {
			return made.QueueARN
		}
	}
	return ""
}

// AllowedChanged passes the updates of an SNSTopic that its senders wait for: its ARN, and its allowed senders.
func AllowedChanged() predicate.Predicate {
	return watch.Changed(func(was, is *v1alpha1.SNSTopic) bool {
		return was.Status.ARN != is.Status.ARN || !slices.Equal(was.Status.AllowedSenders, is.Status.AllowedSenders)
	})
}

// Refs are the references of topics in their namespace: the queues that they wait for, and the buckets that they let
// in.
var Refs = []watch.Ref{
	watch.LocalRef{From: &v1alpha1.SNSTopic{}, To: &v1alpha1.SQSQueue{}, When: sqs.ReadyChanged()},
	watch.AdmittedRef{From: &v1alpha1.SNSTopic{}, To: &v1alpha1.S3Bucket{}, When: senders.ARNChanged()},
}

var queueLookup = sqs.Lookup{
	Field: "spec.subscriptions", Queue: "queue", This: "this topic",
	Waiting: v1alpha1.ReasonWaitingForQueues, Mismatch: v1alpha1.ReasonQueueMismatch,
}

// queue returns the ARN of the SQSQueue of this name in obj's namespace.
func (t *topic) queue(ctx context.Context, obj *v1alpha1.SNSTopic, name string) (string, error) {
	queue, err := queueLookup.Get(ctx, t.kube, obj.Namespace, name)
	if err != nil {
		return "", err
	}
	if queue.Spec.FIFOQueue && !obj.Spec.FIFOTopic {
		return "", engine.Blocked(v1alpha1.ReasonQueueMismatch,
			"the queue %s is a FIFO queue, and gets messages of FIFO topics only; choose a standard queue", name)
	}
	arn, err := queueLookup.ARN(t.Session, queue)
	if err != nil {
		return "", err
	}
	return arn, t.note(t.letIn(ctx, obj, queue))
}

// queueReader lists the calls that a topic makes to SQS.
type queueReader interface {
	// Policy returns the access policy of the queue at the URL, empty if it has none.
	Policy(ctx context.Context, url string) (string, error)
}

// letIn returns an error if the queue drops the topic's messages.
func (t *topic) letIn(ctx context.Context, obj *v1alpha1.SNSTopic, queue *v1alpha1.SQSQueue) error {
	source := iampolicy.Source{ARN: t.arn(obj)} // which follows from the name, before the topic exists
	err := senders.OfQueue(queue, t.queues.Policy).LetsIn(ctx, source,
		v1alpha1.Sender{TopicRef: &v1alpha1.LocalRef{Name: obj.Name}})
	if err == nil {
		return nil
	}
	return external.Postponed(err) // publishers can use the topic meanwhile
}
