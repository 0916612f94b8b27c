// Package sqs manages the SQS kinds.
package sqs

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// longest is the limit for a queue name, in characters.
const longest = attributes.LongestQueueName

// queueState is the observed state of one queue in AWS.
type queueState = attributes.State

// queue adapts SQSQueue for one pass.
type queue struct {
	attributes.Adapter[*v1alpha1.SQSQueue]
	api    api
	kube   external.Kube
	keys   senders.KeyAPI
	target string // the dead-letter queue's ARN; see Resolve
	// senders are those in allowFrom, and redrives the ARNs of the queues in sourceQueueRefs.
	senders  senders.Found
	redrives []string
	made     string // the URL of the queue that this pass created
}

var (
	_ external.TagRestorer[*v1alpha1.SQSQueue, queueState] = (*queue)(nil)
	_ external.Resolver[*v1alpha1.SQSQueue]                = (*queue)(nil)
	_ external.LiveReader[*v1alpha1.SQSQueue]              = (*queue)(nil)
)

// Queue returns the adapter of SQSQueue for one pass.
func Queue(session *cloud.Session, kube external.Kube) external.Adapter[*v1alpha1.SQSQueue, queueState] {
	q := newQueue(session, clientFor(session), kube)
	q.keys = senders.Keys(session)
	return q
}

func newQueue(session *cloud.Session, api api, kube external.Kube) *queue {
	q := &queue{api: api, kube: kube}
	q.Adapter = attributes.Adapter[*v1alpha1.SQSQueue]{
		Session: session, Service: service{api}, TagCall: "TagQueue", UntagCall: "UntagQueue", TagCommand: tagCommand,
		Settings: q.settings, Find: q.find, Read: q.read, Create: q.create, Set: q.set,
	}
	return q
}

func (q *queue) name(obj *v1alpha1.SQSQueue) string {
	return q.Name(obj, cmp.Or(external.Noted(&obj.Status.AWSStatus, obj.Status.QueueName), obj.Spec.QueueName), longest,
		obj.Spec.FIFOQueue)
}

func (q *queue) arn(obj *v1alpha1.SQSQueue) string { return q.Session.ARN("sqs", q.name(obj)) }

// lastPart returns the name of a queue, which is the last part of its URL.
func lastPart(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// find returns the URL of obj's queue.
func (q *queue) find(ctx context.Context, obj *v1alpha1.SQSQueue) (string, error) {
	url := cmp.Or(q.made, obj.Status.QueueURL)
	// the endpoint may differ
	if url == "" || (q.made == "" && obj.Status.ProviderGeneration != q.Session.ProviderGeneration) {
		return q.url(ctx, q.name(obj))
	}
	return url, nil
}

// Reserve records where the queue will be.
func (q *queue) Reserve(obj *v1alpha1.SQSQueue, _ *queueState) {
	s := &obj.Status
	s.QueueName, s.Region, s.AccountID = q.name(obj), q.Session.Config.Region, q.Session.AccountID
}

// set plans all changes as one call.
func (q *queue) set(obj *v1alpha1.SQSQueue, seen *queueState, changes []external.Change) []external.Action {
	return external.PlanCall(changes, func(some []external.Change) external.Action {
		return q.setOnce(obj, seen, some)
	})
}

func (q *queue) setOnce(obj *v1alpha1.SQSQueue, seen *queueState, changes []external.Change) external.Action {
	set := attributes.Values(changes...)
	refs := q.references(obj, set, seen.Attributes)
	oneEncryption(set)
	action := external.Action{
		Name: "SetQueueAttributes", Why: external.Describe(changes), Changes: changes,
		References: refs, Do: func(ctx context.Context) error {
			whole := maps.Clone(set)
			senders.Compose(whole, seen.Attributes)
			_, err := q.api.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &seen.ID, Attributes: whole})
			if err == nil {
				senders.Note(set, seen.Attributes)
			}
			return cloud.Explain(err)
		},
	}
	return senders.Divisible(action, seen.Attributes[senders.Own], func(part external.Change) external.Action {
		return q.setOnce(obj, seen, []external.Change{part})
	})
}

// create creates the queue with its attributes and tags in one call. For an existing queue CreateQueue responds as if
// it had created it; the next observation shows whose tags it has.
func (q *queue) create(obj *v1alpha1.SQSQueue, set, tags map[string]string) external.Action {
	name := q.name(obj)
	refs := q.references(obj, set, nil)
	oneEncryption(set)
	senders.Compose(set, nil)
	if obj.Spec.FIFOQueue {
		set["FifoQueue"] = "true"
	}
	in := &sqs.CreateQueueInput{QueueName: &name, Attributes: set, Tags: tags}
	return external.Action{
		Name: "CreateQueue", Why: "queue " + name + " in " + q.Session.Config.Region, References: refs,
		Do: func(ctx context.Context) error {
			out, err := q.api.CreateQueue(ctx, in)
			switch {
			case cloud.HasCode(err, "QueueNameExists"), cloud.HasCode(err, "QueueAlreadyExists"):
				return nil // created in the meantime, or by an earlier try
			case cloud.HasCode(err, "AWS.SimpleQueueService.QueueDeletedRecently"),
				cloud.HasCode(err, "QueueDeletedRecently"):
				return external.NotCreated(
					engine.Wait(v1alpha1.ReasonNameBusy, 10*time.Second, "a queue named %s was deleted less than 60 "+
						"seconds ago; SQS gives the name free after that time", name))
			case err != nil:
				return cloud.Explain(err)
			}
			q.made = aws.ToString(out.QueueUrl)
			return nil
		},
	}
}

// tagCommand returns the command line that does the same as TagQueue, and keeps all other tags.
func tagCommand(session *cloud.Session, url string, tags map[string]string) string {
	text, _ := json.Marshal(tags) // marshalling texts does not fail
	return session.Command(sqs.ServiceID, "sqs", "tag-queue", "--queue-url", url, "--tags", string(text))
}

// Report fills the status.
func (q *queue) Report(obj *v1alpha1.SQSQueue, seen *queueState) map[string]string {
	q.Reserve(obj, nil)
	s := &obj.Status
	s.KMSKey = external.Effective(s.KMSKey, obj.Spec.KMSMasterKeyID, seen.Attributes[kmsKey])
	s.ARN, s.QueueURL, s.DeadLetterTargetARN = q.arn(obj), seen.ID, q.target
	s.AllowedSenders = nil
	if obj.Spec.AllowFrom != nil {
		s.AllowedSenders = q.senders.Allowed(seen.Attributes, sendMessage, s.ARN)
	}
	s.AllowedSources = nil
	if obj.Spec.RedriveAllowPolicy != nil {
		sources := parseAllow(seen.Attributes[redriveAllow]).Sources
		slices.Sort(sources)
		s.AllowedSources = slices.Compact(sources)
	}
	return map[string]string{
		"type": "sqs", "provider": "aws", "queue": s.QueueName, "uri": seen.ID, "url": seen.ID, "arn": s.ARN,
		"region": s.Region, "endpoint": q.Session.Services.Endpoint(sqs.ServiceID),
	}
}
