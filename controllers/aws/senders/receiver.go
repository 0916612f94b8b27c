package senders

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Receiver is an object that messages are sent to.
type Receiver struct {
	Kind, Name string
	ARN        string
	Action     string // what its policy must allow for messages: sqs:SendMessage
	AllowFrom  v1alpha1.Senders
	Allowed    []string // the status's AllowedSenders
	// Policy reads the access policy.
	Policy func(context.Context) (string, error)
}

// OfQueue returns an SQSQueue as a Receiver; read returns its policy by the queue's URL.
func OfQueue(q *v1alpha1.SQSQueue, read func(ctx context.Context, url string) (string, error)) Receiver {
	return Receiver{
		Kind: v1alpha1.KindSQSQueue, Name: q.Name, ARN: q.Status.ARN, Action: "sqs:SendMessage",
		AllowFrom: q.Spec.AllowFrom, Allowed: q.Status.AllowedSenders,
		Policy: func(ctx context.Context) (string, error) { return read(ctx, q.Status.QueueURL) },
	}
}

// OfTopic returns an SNSTopic as a Receiver; read returns its policy by the topic's ARN.
func OfTopic(topic *v1alpha1.SNSTopic, read func(ctx context.Context, arn string) (string, error)) Receiver {
	return Receiver{
		Kind: v1alpha1.KindSNSTopic, Name: topic.Name, ARN: topic.Status.ARN, Action: "sns:Publish",
		AllowFrom: topic.Spec.AllowFrom, Allowed: topic.Status.AllowedSenders,
		Policy: func(ctx context.Context) (string, error) { return read(ctx, topic.Status.ARN) },
	}
}

// LetsIn returns an error if the receiver drops the sender's messages. The sender is source in AWS and ref in
// Kubernetes. A sender in allowFrom is checked by the receiver's status; for any other one the policy is read.
func (r Receiver) LetsIn(ctx context.Context, source iampolicy.Source, ref v1alpha1.Sender) error {
	declared := slices.ContainsFunc(r.AllowFrom, func(s v1alpha1.Sender) bool {
		return s.ARN == source.ARN || same(s.TopicRef, ref.TopicRef) || same(s.BucketRef, ref.BucketRef)
	})
	switch {
	case slices.Contains(r.Allowed, source.ARN):
		return nil
	case declared:
		return engine.Wait(v1alpha1.ReasonNotLetIn, time.Minute,
			"the %s %s does not let this object send yet, and drops its messages until it does; the status of %[2]s "+
				"says why", r.Kind, r.Name)
	}
	policy, err := r.Policy(ctx)
	if err != nil { // the other object's status says what is wrong there
		return nil //nolint:nilerr // and AWS decides
	}
	p, invalid := iampolicy.Parse(cmp.Or(policy, "{}"))
	admitted := invalid != nil || p.Admits(source.Request(r.Action, r.ARN)) != iampolicy.No
	if admitted { // also if its conditions are unknown here: AWS decides
		return nil
	}
	field := "topicRef"
	if ref.BucketRef != nil {
		field = "bucketRef"
	}
	return engine.Blocked(v1alpha1.ReasonNotLetIn,
		"the %s %s does not let this object send, and drops its messages. Add an entry with %s to spec.allowFrom of "+
			"%[2]s", r.Kind, r.Name, field)
}

func same(a, b *v1alpha1.LocalRef) bool { return a != nil && b != nil && a.Name == b.Name }
