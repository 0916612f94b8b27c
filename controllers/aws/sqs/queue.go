// Package sqs keeps SQS kinds.
package sqs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// longest is SQS's limit for a queue name, in characters; fifoSuffix ends the name of every FIFO queue and counts.
const (
	longest    = 80
	fifoSuffix = ".fifo"
)

// queueState is what AWS has of one queue.
type queueState struct {
	url        string
	tags       map[string]string
	attributes map[string]string // nil: not read, because nothing of them is declared or managed
}

// queue adapts SQSQueue; made for one pass.
type queue struct {
	api     api
	session *cloud.Session
	kube    external.Kube
	target  string // the dead-letter queue's ARN; see Resolve
	rest    error  // what is waited for beside the work on the queue itself
	made    string // the URL of the queue that this pass made
}

// Queue adapts SQSQueue.
func Queue(session *cloud.Session, kube external.Kube) external.Adapter[*v1alpha1.SQSQueue, queueState] {
	return &queue{session: session, api: clientFor(session), kube: kube}
}

func (q *queue) name(obj *v1alpha1.SQSQueue) string {
	if name := cmp.Or(obj.Status.QueueName, obj.Spec.QueueName); name != "" {
		return name
	}
	if obj.Spec.FIFOQueue {
		return q.session.Identity.GeneratedName(obj, longest-len(fifoSuffix)) + fifoSuffix
	}
	return q.session.Identity.GeneratedName(obj, longest)
}

func arn(session *cloud.Session, name string) string {
	return fmt.Sprintf("arn:%s:sqs:%s:%s:%s", session.Partition, session.Config.Region, session.AccountID, name)
}

// lastPart of a queue's URL, or ARN cut at "/", is its name.
func lastPart(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// Observe reads the tags, which show existence and ownership in one call once the URL is known, and the attributes only
// if any is declared or managed.
func (q *queue) Observe(ctx context.Context, obj *v1alpha1.SQSQueue) (*queueState, error) {
	url := aws.String(cmp.Or(q.made, obj.Status.QueueURL))
	if *url == "" || (q.made == "" && obj.Status.ProviderGeneration != q.session.ProviderGeneration) { // its endpoint may be another
		var err error
		if url, err = q.url(ctx, q.name(obj)); err != nil || url == nil {
			return nil, err
		}
	}
	out, err := q.api.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: url})
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, cloud.Explain(err)
	}
	seen := &queueState{url: *url, tags: out.Tags}
	foreign := q.Owner(obj, seen) == external.Foreign && obj.Spec.ManagementPolicy != v1alpha1.ManagementObserve
	if foreign || !obj.DeletionTimestamp.IsZero() || !external.Concerned(q.fields(), obj) {
		return seen, nil
	}
	if seen.attributes, err = q.attributes(ctx, *url); cloud.IsNotFound(err) {
		return nil, nil
	}
	return seen, cloud.Explain(err)
}

// Owner reads ownership off the tags.
func (q *queue) Owner(obj *v1alpha1.SQSQueue, seen *queueState) external.Owner {
	return q.session.Identity.Owner(obj, seen.tags)
}

// Declared lists the spec paths in use.
func (q *queue) Declared(obj *v1alpha1.SQSQueue) []string {
	paths := append(external.DeclaredPaths(q.fields(), obj), q.session.TagPaths(obj, obj.Spec.Tags)...)
	slices.Sort(paths)
	return paths
}

// Reserve notes where the queue will be.
func (q *queue) Reserve(obj *v1alpha1.SQSQueue) {
	s := &obj.Status
	s.QueueName, s.Region, s.AccountID = q.name(obj), q.session.Config.Region, q.session.AccountID
}

// Plan compares.
func (q *queue) Plan(obj *v1alpha1.SQSQueue, seen *queueState) ([]external.Step, error) {
	if seen == nil {
		return []external.Step{q.create(obj)}, nil
	}
	var steps []external.Step
	if obj.Spec.ManagementPolicy != v1alpha1.ManagementObserve {
		steps = q.planTags(obj, seen)
	}
	if seen.attributes == nil {
		return steps, q.rest
	}
	changes := external.Changes(q.fields(), obj, seen)
	if len(changes) == 0 {
		return steps, q.rest
	}
	set := toSet(changes)
	return append(steps, external.Step{Name: "SetQueueAttributes", Why: external.Why(changes), Sets: changes, References: q.references(obj, set, seen.attributes), Do: func(ctx context.Context) error {
		_, err := q.api.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &seen.url, Attributes: set})
		return cloud.Explain(err)
	}}), q.rest
}

// planTags is first: ownership is marked before anything else is changed.
func (q *queue) planTags(obj *v1alpha1.SQSQueue, seen *queueState) []external.Step {
	change, steps := q.session.PlanTags(obj, obj.Spec.Tags, seen.tags), []external.Step(nil)
	if len(change.Set) > 0 {
		steps = append(steps, external.Step{Name: "TagQueue", Why: change.Why, Sets: change.Sets(), Do: func(ctx context.Context) error {
			_, err := q.api.TagQueue(ctx, &sqs.TagQueueInput{QueueUrl: &seen.url, Tags: change.Set})
			return cloud.Explain(err)
		}})
	}
	if len(change.Remove) > 0 {
		steps = append(steps, external.Step{Name: "UntagQueue", Why: change.Why, Do: func(ctx context.Context) error {
			return q.untag(ctx, seen, change.Remove)
		}})
	}
	return steps
}

func (q *queue) untag(ctx context.Context, seen *queueState, keys []string) error {
	_, err := q.api.UntagQueue(ctx, &sqs.UntagQueueInput{QueueUrl: &seen.url, TagKeys: keys})
	return cloud.Explain(err)
}

// create makes the queue with its attributes and tags in one call. CreateQueue answers for an existing queue as if it
// had made it; whose tags it has, the next look tells.
func (q *queue) create(obj *v1alpha1.SQSQueue) external.Step {
	name := q.name(obj)
	in := &sqs.CreateQueueInput{QueueName: &name, Attributes: q.initial(obj), Tags: q.session.Tags(obj, obj.Spec.Tags)}
	return external.Step{
		Name: "CreateQueue", Why: "queue " + name + " in " + q.session.Config.Region, Sets: external.Unset(q.Declared(obj)),
		References: q.references(obj, in.Attributes, nil),
		Do: func(ctx context.Context) error {
			out, err := q.api.CreateQueue(ctx, in)
			switch {
			case cloud.HasCode(err, "QueueNameExists"), cloud.HasCode(err, "QueueAlreadyExists"):
				return nil // made in the meantime, or by an earlier try
			case cloud.HasCode(err, "AWS.SimpleQueueService.QueueDeletedRecently"), cloud.HasCode(err, "QueueDeletedRecently"):
				return engine.Wait("NameBusy", 10*time.Second, "a queue named %s was deleted less than 60 seconds ago; SQS gives the name free after that time", name)
			case err != nil:
				return cloud.Explain(err)
			}
			q.made = aws.ToString(out.QueueUrl)
			return nil
		},
	}
}

// Report fills the status.
func (q *queue) Report(obj *v1alpha1.SQSQueue, seen *queueState) map[string]string {
	q.Reserve(obj)
	s := &obj.Status
	s.ARN, s.QueueURL, s.DeadLetterTargetARN = arn(q.session, s.QueueName), seen.url, q.target
	return map[string]string{
		"type": "sqs", "provider": "aws", "queue": s.QueueName, "uri": seen.url, "url": seen.url, "arn": s.ARN,
		"region": s.Region, "endpoint": q.session.Endpoint,
	}
}

// Delete removes the queue and the messages in it.
func (q *queue) Delete(ctx context.Context, _ *v1alpha1.SQSQueue, seen *queueState) (bool, error) {
	_, err := q.api.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &seen.url})
	if cloud.IsNotFound(err) {
		return false, nil
	}
	return err == nil, cloud.Explain(err)
}

// Disown removes our tags and leaves all others.
func (q *queue) Disown(ctx context.Context, _ *v1alpha1.SQSQueue, seen *queueState) error {
	return q.untag(ctx, seen, cloud.Marked(seen.tags))
}
