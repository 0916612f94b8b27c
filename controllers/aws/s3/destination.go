package s3

import (
	"cmp"
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/aws/sns"
	"github.com/portico-platform/portico/controllers/aws/sqs"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// receivers reads the policies of the queues and topics that are notified.
type receivers struct {
	queue func(ctx context.Context, url string) (string, error)
	topic func(ctx context.Context, arn string) (string, error)
}

func receiversFor(session *cloud.Session) receivers {
	return receivers{queue: sqs.Policies(session).Policy, topic: sns.Policies(session).Policy}
}

// destinations are the queues and topics to notify, as this pass knows them.
type destinations struct {
	own []notification
	// hopedFor are those that S3 would refuse to add now: the receiver does not exist yet, or does not let the bucket
	// send yet. Those that S3 already has stay: while a cluster is restored, no object is ready yet, and messages must
	// not stop.
	hopedFor []notification
	rest     error // what is waited for
}

// Resolve finds the queues and topics to notify.
func (b bucket) Resolve(ctx context.Context, obj *v1alpha1.S3Bucket) error {
	for _, n := range obj.Spec.Notifications {
		arn, err := b.destination(ctx, obj, n)
		wait, waits := engine.AsWait(err)
		if err != nil && !waits {
			return err
		}
		events := slices.Clone(n.Events)
		slices.Sort(events)
		one := notification{ARN: arn, Events: events, Prefix: n.Prefix, Suffix: n.Suffix}
		switch {
		case err == nil:
			b.to.own = append(b.to.own, one)
		case wait.Reason != v1alpha1.ReasonNotLetIn && wait.Reason != v1alpha1.ReasonQueueMismatch, !wait.Stalled:
			b.to.hopedFor = append(b.to.hopedFor, one)
		}
		if err != nil {
			b.to.rest = cmp.Or(b.to.rest, external.Postponed(err))
		}
	}
	return nil
}

// with returns the notifications to set; have are those that S3 has.
func (d destinations) with(have []notification) []notification {
	all := slices.Clone(d.own)
	for _, one := range d.hopedFor {
		if slices.ContainsFunc(have, func(h notification) bool { return external.JSON(h) == external.JSON(one) }) {
			all = append(all, one)
		}
	}
	sortNotifications(all)
	return all
}

func sortNotifications(all []notification) {
	slices.SortFunc(all, func(a, b notification) int { return cmp.Compare(external.JSON(a), external.JSON(b)) })
}

var queueLookup = sqs.Lookup{
	Field: "spec.notifications", Queue: "queue", This: "this bucket",
	Waiting: v1alpha1.ReasonWaitingForQueues, Mismatch: v1alpha1.ReasonQueueMismatch,
}

// destination returns the ARN of the queue or topic to notify, and an error unless it lets the bucket send.
func (b bucket) destination(ctx context.Context, obj *v1alpha1.S3Bucket, n v1alpha1.S3Notification) (
	arn string, err error,
) {
	var to senders.Receiver
	if n.QueueRef != nil {
		to, err = b.queue(ctx, obj.Namespace, n.QueueRef.Name)
	} else {
		to, err = b.topic(ctx, obj.Namespace, n.TopicRef.Name)
	}
	if err != nil {
		return to.ARN, err
	}
	own := cmp.Or(obj.Status.ARN, *b.target(obj).arn) // the ARN that it will have
	source := iampolicy.Source{ARN: own, Account: b.session.AccountID}
	return to.ARN, to.LetsIn(ctx, source, v1alpha1.Sender{BucketRef: &v1alpha1.LocalRef{Name: obj.Name}})
}

// queue returns the queue with this name. One that does not exist yet has the ARN that it will have.
func (b bucket) queue(ctx context.Context, namespace, name string) (senders.Receiver, error) {
	queue, err := queueLookup.Get(ctx, b.kube, namespace, name)
	if err != nil {
		return b.missing("sqs", namespace, name, attributes.LongestQueueName), err
	}
	to := senders.OfQueue(queue, b.receivers.queue)
	switch {
	case queue.Spec.FIFOQueue:
		return to, engine.Blocked(v1alpha1.ReasonQueueMismatch,
			"the queue %s is a FIFO queue, to which S3 sends nothing; choose a standard queue", name)
	case to.ARN == "":
		to.ARN = cmp.Or(b.named("sqs", queue.Spec.QueueName),
			b.missing("sqs", namespace, name, attributes.LongestQueueName).ARN)
		return to, engine.Wait(v1alpha1.ReasonWaitingForQueues, time.Minute, "the queue %s is not there yet", name)
	}
	return to, b.beside(to, queue.Status.AccountID, queue.Status.Region)
}

// topic returns the topic with this name. One that does not exist yet has the ARN that it will have.
func (b bucket) topic(ctx context.Context, namespace, name string) (senders.Receiver, error) {
	topic := &v1alpha1.SNSTopic{}
	found, err := engine.Find(ctx, b.kube.Reader, types.NamespacedName{Namespace: namespace, Name: name}, topic)
	if err != nil {
		return senders.Receiver{}, err
	}
	to, missing := senders.OfTopic(topic, b.receivers.topic),
		b.missing("sns", namespace, name, attributes.LongestTopicName)
	switch {
	case !found:
		return missing, engine.Wait(v1alpha1.ReasonWaitingForQueues, time.Minute,
			"there is no SNSTopic %s in this namespace yet; request it, or change spec.notifications", name)
	case external.ObserveOnly(topic):
		return to, engine.Blocked(v1alpha1.ReasonQueueMismatch,
			"the SNSTopic %s only observes a topic that was created elsewhere; choose one that Portico manages", name)
	case topic.Spec.FIFOTopic:
		return to, engine.Blocked(v1alpha1.ReasonQueueMismatch,
			"the topic %s is a FIFO topic, to which S3 sends nothing; choose a standard topic", name)
	case to.ARN == "":
		to.ARN = cmp.Or(b.named("sns", topic.Spec.TopicName), missing.ARN)
		return to, engine.Wait(v1alpha1.ReasonWaitingForQueues, time.Minute, "the topic %s is not there yet", name)
	}
	return to, b.beside(to, topic.Status.AccountID, topic.Status.Region)
}

// named returns the ARN of the resource with this name in the bucket's account and region; empty for no name.
func (b bucket) named(service, name string) string {
	if name == "" {
		return ""
	}
	return b.session.ARN(service, name)
}

// missing returns the receiver of an object with this name that does not exist yet, with the name that Portico
// generates.
func (b bucket) missing(service, namespace, name string, longest int) senders.Receiver {
	obj := &metav1.ObjectMeta{Namespace: namespace, Name: name}
	return senders.Receiver{Name: name, ARN: b.named(service, b.session.Identity.GeneratedName(obj, longest))}
}

// beside returns an error for a queue or topic in another account or region than the bucket.
func (b bucket) beside(to senders.Receiver, account, region string) error {
	if account == b.session.AccountID && region == b.session.Config.Region {
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonQueueMismatch,
		"%s %s is in account %s and region %s, and must be where the bucket is: %s, %s",
		to.Kind, to.Name, account, region, b.session.AccountID, b.session.Config.Region)
}
