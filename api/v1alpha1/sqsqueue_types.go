package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SQSQueueSpec is the queue that a team wants. A field left out is not managed and keeps AWS's default.
// +kubebuilder:validation:XValidation:rule="!has(self.queueName) || (has(self.fifoQueue) && self.fifoQueue) == self.queueName.endsWith('.fifo')",message="the name of a FIFO queue ends in .fifo, and no other's does: change queueName or fifoQueue"
// +kubebuilder:validation:XValidation:rule="(has(self.fifoQueue) && self.fifoQueue) || (!has(self.contentBasedDeduplication) && !has(self.deduplicationScope) && !has(self.fifoThroughputLimit))",message="contentBasedDeduplication, deduplicationScope and fifoThroughputLimit need fifoQueue: true"
// +kubebuilder:validation:XValidation:rule="!has(self.fifoThroughputLimit) || self.fifoThroughputLimit != 'perMessageGroupId' || (has(self.deduplicationScope) && self.deduplicationScope == 'messageGroup')",message="fifoThroughputLimit perMessageGroupId needs deduplicationScope: messageGroup"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsMasterKeyId) || !has(self.sqsManagedSseEnabled) || !self.sqsManagedSseEnabled",message="choose one encryption: kmsMasterKeyId, or sqsManagedSseEnabled: true"
// +kubebuilder:validation:XValidation:rule="!has(self.kmsDataKeyReusePeriodSeconds) || has(self.kmsMasterKeyId)",message="kmsDataKeyReusePeriodSeconds needs kmsMasterKeyId"
// +kubebuilder:validation:XValidation:rule="!has(self.fifoQueue) || !self.fifoQueue || !has(self.allowFrom) || self.allowFrom.all(s, !has(s.bucketRef) && (!has(s.arn) || !s.arn.contains(':s3:::')))",message="S3 cannot send to a FIFO queue: take the bucket out of allowFrom, or let it send to a standard queue"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".deadLetterQueue",rule="(oldSelf.hasValue() && has(self.deadLetterQueue) && has(oldSelf.value().deadLetterQueue) && self.deadLetterQueue == oldSelf.value().deadLetterQueue) || !has(self.deadLetterQueue) || !has(self.deadLetterQueue.targetArn) || self.deadLetterQueue.targetArn.endsWith('.fifo') == (has(self.fifoQueue) && self.fifoQueue)",message="the dead-letter queue of a FIFO queue is a FIFO queue, and that of a standard queue a standard one: name another targetArn"
type SQSQueueSpec struct {
	AWSSpec `json:",inline"`
	// queueName is the queue's name in SQS, unique in the account and region. If left out, Portico picks
	// <namespace>-<name>-<hash>, with .fifo at the end for a FIFO queue. Immutable once it is created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+([.]fifo)?$')",message="use letters, digits, hyphens and underscores; only the name of a FIFO queue has a dot, in .fifo at its end"
	// +optional
	QueueName string `json:"queueName,omitempty"`
	// fifoQueue true keeps messages in order and delivers each once. Immutable once it is created.
	// +optional
	FIFOQueue bool `json:"fifoQueue,omitempty"`
	// contentBasedDeduplication takes the body's hash for the deduplication ID of messages that have none. FIFO only.
	// +optional
	ContentBasedDeduplication *bool `json:"contentBasedDeduplication,omitempty"`
	// deduplicationScope is where a duplicate counts: in the whole queue, or in a message group. FIFO only.
	// +kubebuilder:validation:Enum=queue;messageGroup
	// +optional
	DeduplicationScope string `json:"deduplicationScope,omitempty"`
	// fifoThroughputLimit is what SQS's limit of calls a second applies to. FIFO only.
	// +kubebuilder:validation:Enum=perQueue;perMessageGroupId
	// +optional
	FIFOThroughputLimit string `json:"fifoThroughputLimit,omitempty"`
	// delaySeconds hides every new message for this long, in seconds.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=900
	// +optional
	DelaySeconds *int32 `json:"delaySeconds,omitempty"`
	// maximumMessageSize in bytes.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=1048576
	// +optional
	MaximumMessageSize *int32 `json:"maximumMessageSize,omitempty"`
	// messageRetentionPeriod is how long SQS keeps a message that nobody deletes, in seconds: from one minute to 14
	// days.
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=1209600
	// +optional
	MessageRetentionPeriod *int32 `json:"messageRetentionPeriod,omitempty"`
	// visibilityTimeout hides a received message from other receivers for this long, in seconds.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=43200
	// +optional
	VisibilityTimeout *int32 `json:"visibilityTimeout,omitempty"`
	// receiveMessageWaitTimeSeconds is how long a receive call waits for a message (long polling), in seconds.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	// +optional
	ReceiveMessageWaitTimeSeconds *int32 `json:"receiveMessageWaitTimeSeconds,omitempty"`
	// deadLetterQueue takes the messages that were received too often.
	// +optional
	DeadLetterQueue *SQSDeadLetterQueue `json:"deadLetterQueue,omitempty"`
	// redriveAllowPolicy says which queues can use this one as their dead-letter queue. If left out, all of the account
	// and region can.
	// +optional
	RedriveAllowPolicy *SQSRedriveAllowPolicy `json:"redriveAllowPolicy,omitempty"`
	// kmsMasterKeyId encrypts messages with this KMS key: its ID, ARN or alias.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	KMSMasterKeyID string `json:"kmsMasterKeyId,omitempty"`
	// kmsDataKeyReusePeriodSeconds is how long SQS reuses a data key before it asks KMS again, in seconds.
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=86400
	// +optional
	KMSDataKeyReusePeriodSeconds *int32 `json:"kmsDataKeyReusePeriodSeconds,omitempty"`
	// sqsManagedSseEnabled encrypts messages with keys that SQS keeps, which is AWS's default; false stores them
	// unencrypted.
	// +optional
	SQSManagedSSEEnabled *bool `json:"sqsManagedSseEnabled,omitempty"`
	// allowFrom are the topics, buckets and EventBridge rules that can send messages to the queue. SNS and S3 drop what
	// a queue does not let in. One that is not there yet is let in as soon as it is.
	// +optional
	AllowFrom Senders `json:"allowFrom,omitempty"`
	// policy is the rest of the queue's access policy, as JSON: what allowFrom does not say. If left out, statements
	// that others added in AWS stay.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=8192
	// +optional
	Policy string `json:"policy,omitempty"`
	// tags of the queue, in addition to the default tags of the AWS account.
	// +kubebuilder:validation:MaxProperties=34
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="self.all(k, (oldSelf.hasValue() && k in oldSelf.value() && self[k] == oldSelf.value()[k]) || (k.matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$') && self[k].matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$')))",message="AWS takes letters, digits, spaces and _ . : / = + - @ in the keys and values of tags; take the others out"
	// +optional
	Tags Tags `json:"tags,omitempty"`
	// deletionPolicy is what happens to the queue when you delete it. Delete removes it with the messages in it. Retain
	// keeps it: the same request can manage it again later. Orphan keeps it and removes Portico's tags.
	// +kubebuilder:validation:Enum=Delete;Retain;Orphan
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// SQSDeadLetterQueue is where messages go that nobody could handle.
// +kubebuilder:validation:XValidation:rule="has(self.targetRef) != has(self.targetArn)",message="name the dead-letter queue by targetRef (an SQSQueue of this namespace) or by targetArn, not both"
type SQSDeadLetterQueue struct {
	// targetRef names an SQSQueue in the same namespace, account and region. This queue waits until it is Ready.
	// +optional
	TargetRef *LocalRef `json:"targetRef,omitempty"`
	// targetArn is the ARN of a queue in the same account and region.
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,80}([.]fifo)?$`
	// +kubebuilder:validation:MaxLength=256
	// +optional
	TargetARN string `json:"targetArn,omitempty"`
	// maxReceiveCount is how often a message is received before it moves to the dead-letter queue.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +required
	MaxReceiveCount int32 `json:"maxReceiveCount"`
}

// SQSRedriveAllowPolicy says which queues can use a queue as dead-letter queue.
// +kubebuilder:validation:XValidation:rule="self.redrivePermission == 'byQueue' || !has(self.sourceQueueRefs)",message="sourceQueueRefs go with redrivePermission byQueue only: choose that, or take them out"
// +kubebuilder:validation:XValidation:rule="self.redrivePermission == 'byQueue' || !has(self.sourceQueueArns)",message="sourceQueueArns go with redrivePermission byQueue only: choose that, or take them out"
// +kubebuilder:validation:XValidation:rule="self.redrivePermission != 'byQueue' || has(self.sourceQueueArns) || has(self.sourceQueueRefs)",message="redrivePermission byQueue needs sourceQueueRefs or sourceQueueArns"
// +kubebuilder:validation:XValidation:rule="(has(self.sourceQueueArns) ? self.sourceQueueArns.size() : 0) + (has(self.sourceQueueRefs) ? self.sourceQueueRefs.size() : 0) <= 10",message="SQS takes at most 10 source queues"
type SQSRedriveAllowPolicy struct {
	// redrivePermission is allowAll, denyAll, or byQueue for the queues in sourceQueueRefs and sourceQueueArns.
	// +kubebuilder:validation:Enum=allowAll;denyAll;byQueue
	// +required
	RedrivePermission string `json:"redrivePermission"`
	// sourceQueueRefs name SQSQueues of this namespace, in the same account and region, that can use this one.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	// +optional
	SourceQueueRefs []LocalRef `json:"sourceQueueRefs,omitempty"`
	// sourceQueueArns are the ARNs of queues that can use this one.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=set
	// +optional
	SourceQueueARNs []string `json:"sourceQueueArns,omitempty"`
}

// SQSQueueStatus is the queue that AWS has.
type SQSQueueStatus struct {
	AWSStatus `json:",inline"`
	// queueName is the queue's name in SQS.
	// +optional
	QueueName string `json:"queueName,omitempty"`
	// queueURL is where applications send and receive.
	// +optional
	QueueURL string `json:"queueURL,omitempty"`
	// kmsKey is the customer's KMS key that AWS encrypts with, as the spec names it, once the platform has admitted it;
	// the rights of Pods follow it.
	// +optional
	KMSKey string `json:"kmsKey,omitempty"`
	// allowedSenders are the ARNs of allowFrom that AWS lets send.
	// +listType=set
	// +optional
	AllowedSenders []string `json:"allowedSenders,omitempty"`
	// allowedSources are the ARNs of the queues that redriveAllowPolicy names, as AWS has them.
	// +listType=set
	// +optional
	AllowedSources []string `json:"allowedSources,omitempty"`
	// deadLetterTargetARN is the dead-letter queue in use.
	// +optional
	DeadLetterTargetARN string `json:"deadLetterTargetARN,omitempty"`
}

// SQSQueue passes messages between services asynchronously: the receiver does not have to run when a message is sent.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sqs,categories=portico
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Queue",type=string,JSONPath=`.status.queueName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.providerRef.name`,priority=1
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.status.region`,priority=1
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.queueURL`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:fieldPath=".spec.providerRef",rule="!has(self.status) || !(has(self.status.accountID)) || (self.spec.providerRef == oldSelf.spec.providerRef)",message="providerRef is immutable: the resource would stay behind in the old account; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.region",rule="!has(self.status) || !(has(self.status.accountID)) || (has(self.spec.region) == has(oldSelf.spec.region) && (!has(self.spec.region) || self.spec.region == oldSelf.spec.region))",message="region is immutable: the resource would stay behind in the old region; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.queueName",rule="!has(self.status) || !(has(self.status.accountID)) || (has(self.spec.queueName) == has(oldSelf.spec.queueName) && (!has(self.spec.queueName) || self.spec.queueName == oldSelf.spec.queueName))",message="queueName is immutable: SQS cannot rename a queue; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.fifoQueue",rule="!has(self.status) || !(has(self.status.accountID)) || ((has(self.spec.fifoQueue) && self.spec.fifoQueue) == (has(oldSelf.spec.fifoQueue) && oldSelf.spec.fifoQueue))",message="fifoQueue is immutable: SQS cannot turn one type of queue into the other; delete this object and request a new one"
type SQSQueue struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the queue that the team wants.
	// +required
	Spec SQSQueueSpec `json:"spec"`
	// status is the queue that AWS has.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status SQSQueueStatus `json:"status,omitempty"`
}

// Reasons of SQSQueues.
const (
	ReasonDeadLetterQueueMismatch   = "DeadLetterQueueMismatch"
	ReasonNameBusy                  = "NameBusy"
	ReasonWaitingForDeadLetterQueue = "WaitingForDeadLetterQueue"
)
