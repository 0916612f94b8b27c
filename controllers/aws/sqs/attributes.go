package sqs

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/external"
)

type setting = attributes.Setting[*v1alpha1.SQSQueue]

// What SQS validates together.
const (
	encryptionTogether = "encryption"
	fifoTogether       = "FIFO"
)

// queueSettings have the defaults of the API reference of SetQueueAttributes. deadLetterQueue is not among them: only
// the pass knows its ARN.
var queueSettings = []setting{
	{Name: "DelaySeconds", Path: "delaySeconds", Default: "0", Want: external.Number(func(q *v1alpha1.SQSQueue) *int32 { return q.Spec.DelaySeconds })},
	{Name: "MaximumMessageSize", Path: "maximumMessageSize", Default: "1048576", Want: external.Number(func(q *v1alpha1.SQSQueue) *int32 { return q.Spec.MaximumMessageSize })},
	{
		// as that reference says; others a minute
		Name: "MessageRetentionPeriod", Path: "messageRetentionPeriod", Default: "345600", Settles: 15 * time.Minute,
		Want: external.Number(func(q *v1alpha1.SQSQueue) *int32 { return q.Spec.MessageRetentionPeriod }),
	},
	{Name: "VisibilityTimeout", Path: "visibilityTimeout", Default: "30", Want: external.Number(func(q *v1alpha1.SQSQueue) *int32 { return q.Spec.VisibilityTimeout })},
	{
		Name: "ReceiveMessageWaitTimeSeconds", Path: "receiveMessageWaitTimeSeconds", Default: "0",
		Want: external.Number(func(q *v1alpha1.SQSQueue) *int32 { return q.Spec.ReceiveMessageWaitTimeSeconds }),
	},
	{Name: "ContentBasedDeduplication", Path: "contentBasedDeduplication", Default: "false", Want: external.Bool(func(q *v1alpha1.SQSQueue) *bool { return q.Spec.ContentBasedDeduplication })},
	{Name: "DeduplicationScope", Path: "deduplicationScope", Default: "queue", Together: fifoTogether, Want: external.Text(func(q *v1alpha1.SQSQueue) string { return q.Spec.DeduplicationScope })},
	{Name: "FifoThroughputLimit", Path: "fifoThroughputLimit", Default: "perQueue", Together: fifoTogether, Want: external.Text(func(q *v1alpha1.SQSQueue) string { return q.Spec.FIFOThroughputLimit })},
	{Name: kmsKey, Path: "kmsMasterKeyId", Together: encryptionTogether, Want: external.Text(func(q *v1alpha1.SQSQueue) string { return q.Spec.KMSMasterKeyID })},
	{
		Name: "KmsDataKeyReusePeriodSeconds", Path: "kmsDataKeyReusePeriodSeconds", Default: "300",
		Together: encryptionTogether,
		Want:     external.Number(func(q *v1alpha1.SQSQueue) *int32 { return q.Spec.KMSDataKeyReusePeriodSeconds }),
	},
	{Name: managedEncryption, Path: "sqsManagedSseEnabled", Default: "true", Together: encryptionTogether, Want: sse},
}

// sendMessage is the action that a sender needs.
const sendMessage = "sqs:SendMessage"

const (
	kmsKey            = "KmsMasterKeyId"
	redrivePolicy     = "RedrivePolicy"
	redriveAllow      = "RedriveAllowPolicy"
	managedEncryption = "SqsManagedSseEnabled"
)

// settings returns the settings of a queue. A server other than AWS that does not report encryption counts as not
// encrypting: if encryption is wanted it is sent, and reported if it does not show.
func (q *queue) settings(obj *v1alpha1.SQSQueue) []setting {
	all := slices.Clone(queueSettings)
	if enabled := obj.Spec.SQSManagedSSEEnabled; q.Session.Services.Endpoint(sqs.ServiceID) != "" && enabled != nil &&
		*enabled {
		at := slices.IndexFunc(all, func(s setting) bool { return s.Name == managedEncryption })
		all[at].Have = attributes.Listed(managedEncryption, "not shown")
	}
	return append(all, q.policies()...)
}

// policies returns the settings that name other queues or senders, whose ARNs only the pass knows.
func (q *queue) policies() []setting {
	return []setting{{
		Name: redriveAllow, Path: "redriveAllowPolicy", Want: q.allowPolicy, Normal: normalAllow,
	}, {
		Name: senders.Own, Path: senders.OwnPath, Normal: iampolicy.Normal,
		Want: func(obj *v1alpha1.SQSQueue) (string, bool) {
			return q.senders.LetIn(sendMessage, q.arn(obj)), obj.Spec.AllowFrom != nil
		},
	}, {
		Name: senders.Rest, Path: senders.RestPath, Normal: iampolicy.Normal,
		Want:   external.Text(func(q *v1alpha1.SQSQueue) string { return q.Spec.Policy }),
		Refuse: func(policy string) error { return senders.Refuse(policy, q.Session, needed) },
	}, {
		Name: redrivePolicy, Path: "deadLetterQueue", Normal: normalRedrive,
		Want: func(obj *v1alpha1.SQSQueue) (string, bool) {
			return redriveText(q.target, obj.Spec.DeadLetterQueue), obj.Spec.DeadLetterQueue != nil
		},
	}}
}

// needed are the operator's own calls that a queue's policy can deny.
var needed = []string{
	"sqs:GetQueueUrl", "sqs:GetQueueAttributes", "sqs:SetQueueAttributes", "sqs:ListQueueTags", "sqs:TagQueue",
	"sqs:UntagQueue", "sqs:DeleteQueue",
}

// sse returns the wanted use of SQS's own keys: a KMS key switches them off, and without one they are switched on
// again.
func sse(q *v1alpha1.SQSQueue) (string, bool) {
	if q.Spec.KMSMasterKeyID != "" {
		return "false", true
	}
	return external.Bool(func(q *v1alpha1.SQSQueue) *bool { return q.Spec.SQSManagedSSEEnabled })(q)
}

// oneEncryption removes the setting that a KMS key implies: SQS refuses two kinds of encryption at once.
func oneEncryption(set map[string]string) {
	if set[kmsKey] != "" {
		delete(set, managedEncryption)
	}
}

// references returns the new references of the attributes: a KMS key, and a dead-letter queue by its ARN. A dead-letter
// queue of another team would receive messages. One by targetRef is in the object's namespace.
func (q *queue) references(obj *v1alpha1.SQSQueue, set, have map[string]string) []external.Reference {
	refs := reference.Added(reference.KMSKey, []string{""}, []string{set[kmsKey]})
	if dlq := obj.Spec.DeadLetterQueue; dlq != nil && dlq.TargetRef == nil && set[redrivePolicy] != "" {
		refs = append(refs, reference.Added(reference.DeadLetterQueue, []string{targetOf(have[redrivePolicy])},
			[]string{q.target})...)
	}
	return append(refs, senders.References(q.Session.AccountID, obj.Spec.AllowFrom, set, have)...)
}
