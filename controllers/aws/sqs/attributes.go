package sqs

import (
	"slices"
	"strconv"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/external"
)

type field = external.Field[*v1alpha1.SQSQueue, queueState]

// attribute is one attribute of a queue: its name in SQS, its path in the spec, and AWS's default, to which it goes back
// when it is declared no more. The defaults are those of the API reference of SetQueueAttributes.
type attribute struct {
	name, path, byDefault string
	want                  func(*v1alpha1.SQSQueueSpec) (string, bool)
	normal                func(string) string // makes equal meanings equal texts; nil: they are
}

var attributes = []attribute{
	{name: "DelaySeconds", path: "delaySeconds", byDefault: "0", want: number(func(s *v1alpha1.SQSQueueSpec) *int32 { return s.DelaySeconds })},
	{name: "MaximumMessageSize", path: "maximumMessageSize", byDefault: "1048576", want: number(func(s *v1alpha1.SQSQueueSpec) *int32 { return s.MaximumMessageSize })},
	{name: "MessageRetentionPeriod", path: "messageRetentionPeriod", byDefault: "345600", want: number(func(s *v1alpha1.SQSQueueSpec) *int32 { return s.MessageRetentionPeriod })},
	{name: "VisibilityTimeout", path: "visibilityTimeout", byDefault: "30", want: number(func(s *v1alpha1.SQSQueueSpec) *int32 { return s.VisibilityTimeout })},
	{name: "ReceiveMessageWaitTimeSeconds", path: "receiveMessageWaitTimeSeconds", byDefault: "0", want: number(func(s *v1alpha1.SQSQueueSpec) *int32 { return s.ReceiveMessageWaitTimeSeconds })},
	{name: "ContentBasedDeduplication", path: "contentBasedDeduplication", byDefault: "false", want: yesNo(func(s *v1alpha1.SQSQueueSpec) *bool { return s.ContentBasedDeduplication })},
	{name: "DeduplicationScope", path: "deduplicationScope", byDefault: "queue", want: text(func(s *v1alpha1.SQSQueueSpec) string { return s.DeduplicationScope })},
	{name: "FifoThroughputLimit", path: "fifoThroughputLimit", byDefault: "perQueue", want: text(func(s *v1alpha1.SQSQueueSpec) string { return s.FIFOThroughputLimit })},
	{name: "RedriveAllowPolicy", path: "redriveAllowPolicy", want: allowPolicy, normal: normalAllow},
	{name: kmsKey, path: "kmsMasterKeyId", want: text(func(s *v1alpha1.SQSQueueSpec) string { return s.KMSMasterKeyID })},
	{name: "KmsDataKeyReusePeriodSeconds", path: "kmsDataKeyReusePeriodSeconds", byDefault: "300", want: number(func(s *v1alpha1.SQSQueueSpec) *int32 { return s.KMSDataKeyReusePeriodSeconds })},
	{name: managedEncryption, path: "sqsManagedSseEnabled", byDefault: "true", want: sse},
}

const (
	kmsKey            = "KmsMasterKeyId"
	redrivePolicy     = "RedrivePolicy"
	managedEncryption = "SqsManagedSseEnabled"
)

func number(of func(*v1alpha1.SQSQueueSpec) *int32) func(*v1alpha1.SQSQueueSpec) (string, bool) {
	return func(s *v1alpha1.SQSQueueSpec) (string, bool) {
		if v := of(s); v != nil {
			return strconv.Itoa(int(*v)), true
		}
		return "", false
	}
}

func yesNo(of func(*v1alpha1.SQSQueueSpec) *bool) func(*v1alpha1.SQSQueueSpec) (string, bool) {
	return func(s *v1alpha1.SQSQueueSpec) (string, bool) {
		if v := of(s); v != nil {
			return strconv.FormatBool(*v), true
		}
		return "", false
	}
}

func text(of func(*v1alpha1.SQSQueueSpec) string) func(*v1alpha1.SQSQueueSpec) (string, bool) {
	return func(s *v1alpha1.SQSQueueSpec) (string, bool) { return of(s), of(s) != "" }
}

// field is the attribute for comparison. One that SQS does not list has its default.
func (a attribute) field() field {
	return field{
		Path: a.path, Default: a.byDefault,
		Want: func(obj *v1alpha1.SQSQueue) (string, bool) { return a.want(&obj.Spec) },
		Have: func(seen *queueState) string {
			have, listed := seen.attributes[a.name]
			switch {
			case !listed:
				return a.byDefault
			case a.normal != nil:
				return a.normal(have)
			}
			return have
		},
	}
}

// all are the attributes of obj's queue: the dead-letter queue's ARN is known to the pass alone.
func (q *queue) all() []attribute {
	return append(slices.Clone(attributes), attribute{
		name: redrivePolicy, path: "deadLetterQueue", normal: normalRedrive,
		want: func(s *v1alpha1.SQSQueueSpec) (string, bool) {
			return redriveText(q.target, s.DeadLetterQueue), s.DeadLetterQueue != nil
		},
	})
}

func (q *queue) fields() []field {
	fields := make([]field, 0, len(attributes)+1)
	for _, a := range q.all() {
		fields = append(fields, a.field())
	}
	return fields
}

// initial are the attributes to create the queue with: those declared.
func (q *queue) initial(obj *v1alpha1.SQSQueue) map[string]string {
	set := map[string]string{}
	for _, a := range q.all() {
		if value, declared := a.want(&obj.Spec); declared {
			set[a.name] = value
		}
	}
	oneEncryption(set)
	if obj.Spec.FIFOQueue {
		set["FifoQueue"] = "true"
	}
	return set
}

// names of the attributes, by path.
var names = func() map[string]string {
	all := map[string]string{"deadLetterQueue": redrivePolicy}
	for _, a := range attributes {
		all[a.path] = a.name
	}
	return all
}()

// toSet are the attributes that the changes ask for.
func toSet(changes []external.Change) map[string]string {
	set := map[string]string{}
	for _, c := range changes {
		set[names[c.Path]] = c.To
	}
	oneEncryption(set)
	return set
}

// sse: a KMS key switches SQS's own keys off, and without one they go back on.
func sse(s *v1alpha1.SQSQueueSpec) (string, bool) {
	if s.KMSMasterKeyID != "" {
		return "false", true
	}
	return yesNo(func(s *v1alpha1.SQSQueueSpec) *bool { return s.SQSManagedSSEEnabled })(s)
}

// oneEncryption leaves out what a KMS key decides by itself: SQS refuses to be told of two encryptions at once.
func oneEncryption(set map[string]string) {
	if set[kmsKey] != "" {
		delete(set, managedEncryption)
	}
}

// references are what the attributes have the queue refer to that it did not before: a KMS key, and a dead-letter queue by
// its ARN. Whoever names another team's puts messages into it. One by targetRef is of the object's namespace.
func (q *queue) references(obj *v1alpha1.SQSQueue, set, have map[string]string) []external.Reference {
	refs := reference.Added(reference.KMSKey, []string{""}, []string{set[kmsKey]})
	if dlq := obj.Spec.DeadLetterQueue; dlq != nil && dlq.TargetRef == nil && set[redrivePolicy] != "" {
		refs = append(refs, reference.Added(reference.DeadLetterQueue, []string{targetOf(have[redrivePolicy])}, []string{q.target})...)
	}
	return refs
}
