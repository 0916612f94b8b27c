package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SNSTopicSpec is the topic that a team wants. A field left out is not managed and keeps AWS's default.
// +kubebuilder:validation:XValidation:rule="!has(self.topicName) || (has(self.fifoTopic) && self.fifoTopic) == self.topicName.endsWith('.fifo')",message="the name of a FIFO topic ends in .fifo, and no other's does: change topicName or fifoTopic"
// +kubebuilder:validation:XValidation:rule="!has(self.contentBasedDeduplication) || (has(self.fifoTopic) && self.fifoTopic)",message="contentBasedDeduplication needs fifoTopic: true"
type SNSTopicSpec struct {
	AWSSpec `json:",inline"`
	// topicName is the topic's name in SNS, unique in the account and region. If left out, Portico picks
	// <namespace>-<name>-<hash>, with .fifo at the end for a FIFO topic. Immutable once it is created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+([.]fifo)?$')",message="use letters, digits, hyphens and underscores; only the name of a FIFO topic has a dot, in .fifo at its end"
	// +optional
	TopicName string `json:"topicName,omitempty"`
	// fifoTopic true keeps messages in order and delivers each once. Immutable once it is created.
	// +optional
	FIFOTopic bool `json:"fifoTopic,omitempty"`
	// contentBasedDeduplication takes the body's hash for the deduplication ID of messages that have none. FIFO only.
	// +optional
	ContentBasedDeduplication *bool `json:"contentBasedDeduplication,omitempty"`
	// displayName is the sender that people see in mail and text messages.
	// +kubebuilder:validation:MaxLength=100
	// +optional
	DisplayName string `json:"displayName,omitempty"`
	// kmsMasterKeyId encrypts messages with this KMS key: its ID, ARN or alias.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	KMSMasterKeyID string `json:"kmsMasterKeyId,omitempty"`
	// policy is the access policy, as JSON: who can publish and subscribe. If left out, only the AWS account of the
	// topic can.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=30720
	// +optional
	Policy string `json:"policy,omitempty"`
	// allowFrom are the buckets and EventBridge rules that can publish to the topic. One that is not there yet is let
	// in as soon as it is.
	// +kubebuilder:validation:XValidation:rule="self.all(s, !has(s.topicRef) && (!has(s.arn) || !s.arn.contains(':sns:')))",message="a topic does not publish to another one: name buckets and EventBridge rules"
	// +optional
	AllowFrom Senders `json:"allowFrom,omitempty"`
	// subscriptions are the queues and addresses that get the topic's messages. Subscriptions that others made stay.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.all(s, self.exists_one(o, has(s.queueRef) ? has(o.queueRef) && o.queueRef.name == s.queueRef.name : has(s.https) ? has(o.https) && o.https == s.https : has(o.email) && has(s.email) && o.email == s.email))",message="name each queue and address once: SNS has one subscription for a topic and an address"
	// +listType=atomic
	// +optional
	Subscriptions []SNSSubscription `json:"subscriptions,omitempty"`
	// tags of the topic, in addition to the default tags of the AWS account.
	// +kubebuilder:validation:MaxProperties=34
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="self.all(k, (oldSelf.hasValue() && k in oldSelf.value() && self[k] == oldSelf.value()[k]) || (k.matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$') && self[k].matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$')))",message="AWS takes letters, digits, spaces and _ . : / = + - @ in the keys and values of tags; take the others out"
	// +optional
	Tags Tags `json:"tags,omitempty"`
	// deletionPolicy is what happens to the topic when you delete it. Delete removes it, unless others have subscribed.
	// Retain keeps it: the same request can manage it again later. Orphan keeps it and removes Portico's tags.
	// +kubebuilder:validation:Enum=Delete;Retain;Orphan
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// SNSSubscription sends a topic's messages to a queue or an address.
// +kubebuilder:validation:XValidation:rule="(has(self.queueRef) ? 1 : 0) + (has(self.https) ? 1 : 0) + (has(self.email) ? 1 : 0) == 1",message="name where messages go: by queueRef (an SQSQueue of this namespace), by https or by email"
// +kubebuilder:validation:XValidation:rule="!has(self.email) || !has(self.rawMessageDelivery) || !self.rawMessageDelivery",message="SNS delivers no raw messages by mail: leave rawMessageDelivery out"
// +kubebuilder:validation:XValidation:rule="!has(self.filterPolicyScope) || has(self.filterPolicy)",message="filterPolicyScope says what filterPolicy speaks of: add filterPolicy, or leave it out"
type SNSSubscription struct {
	// queueRef names an SQSQueue in the same namespace, account and region, whose allowFrom lets the topic send.
	// +optional
	QueueRef *LocalRef `json:"queueRef,omitempty"`
	// https is an address that gets messages by POST, once it has confirmed that it wants them. A platform admin allows
	// it by allowedSubscribers.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^\s#@]*)?$`
	// +optional
	HTTPS string `json:"https,omitempty"`
	// email is an address that gets messages by mail, once its owner has confirmed that. A platform admin allows it by
	// allowedSubscribers.
	// +kubebuilder:validation:MaxLength=254
	// +kubebuilder:validation:Pattern=`^[^\s@:/]+@[A-Za-z0-9.-]+$`
	// +optional
	Email string `json:"email,omitempty"`
	// rawMessageDelivery true delivers messages as they were published, without SNS's envelope.
	// +optional
	RawMessageDelivery bool `json:"rawMessageDelivery,omitempty"`
	// filterPolicyScope is what filterPolicy speaks of: attributes of messages, or their bodies, which then must be
	// JSON. MessageAttributes, if left out.
	// +kubebuilder:validation:Enum=MessageAttributes;MessageBody
	// +optional
	FilterPolicyScope string `json:"filterPolicyScope,omitempty"`
	// filterPolicy is JSON that says which messages the subscriber gets. If left out, it gets all.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=4096
	// +optional
	FilterPolicy string `json:"filterPolicy,omitempty"`
}

// SNSTopicStatus is the topic that AWS has.
type SNSTopicStatus struct {
	AWSStatus `json:",inline"`
	// topicName is the topic's name in SNS.
	// +optional
	TopicName string `json:"topicName,omitempty"`
	// kmsKey is the customer's KMS key that AWS encrypts with, as the spec names it, once the platform has admitted it;
	// the rights of Pods follow it.
	// +optional
	KMSKey string `json:"kmsKey,omitempty"`
	// allowedSenders are the ARNs of allowFrom that AWS lets publish.
	// +listType=set
	// +optional
	AllowedSenders []string `json:"allowedSenders,omitempty"`
	// subscriptions are the queues and addresses that get the topic's messages because of this object.
	// +listType=atomic
	// +optional
	Subscriptions []SNSSubscriptionStatus `json:"subscriptions,omitempty"`
}

// SNSSubscriptionStatus is a subscription that AWS has.
type SNSSubscriptionStatus struct {
	// queue is the name of the SQSQueue.
	// +optional
	Queue string `json:"queue,omitempty"`
	// queueARN is the ARN of its queue.
	// +optional
	QueueARN string `json:"queueARN,omitempty"`
	// address that gets messages by HTTPS or mail.
	// +optional
	Address string `json:"address,omitempty"`
	// subscriptionARN is the ARN of the subscription. Empty: the address has not confirmed yet that it wants the
	// messages.
	// +optional
	SubscriptionARN string `json:"subscriptionARN,omitempty"`
}

// SNSTopic sends each message to many queues: what one service publishes, all of them get.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sns,categories=portico
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Topic",type=string,JSONPath=`.status.topicName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.providerRef.name`,priority=1
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.status.region`,priority=1
// +kubebuilder:printcolumn:name="ARN",type=string,JSONPath=`.status.arn`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:fieldPath=".spec.providerRef",rule="!has(self.status) || !(has(self.status.accountID)) || (self.spec.providerRef == oldSelf.spec.providerRef)",message="providerRef is immutable: the resource would stay behind in the old account; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.region",rule="!has(self.status) || !(has(self.status.accountID)) || (has(self.spec.region) == has(oldSelf.spec.region) && (!has(self.spec.region) || self.spec.region == oldSelf.spec.region))",message="region is immutable: the resource would stay behind in the old region; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.topicName",rule="!has(self.status) || !(has(self.status.accountID)) || (has(self.spec.topicName) == has(oldSelf.spec.topicName) && (!has(self.spec.topicName) || self.spec.topicName == oldSelf.spec.topicName))",message="topicName is immutable: SNS cannot rename a topic; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.fifoTopic",rule="!has(self.status) || !(has(self.status.accountID)) || ((has(self.spec.fifoTopic) && self.spec.fifoTopic) == (has(oldSelf.spec.fifoTopic) && oldSelf.spec.fifoTopic))",message="fifoTopic is immutable: SNS cannot turn one type of topic into the other; delete this object and request a new one"
type SNSTopic struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the topic that the team wants.
	// +required
	Spec SNSTopicSpec `json:"spec"`
	// status is the topic that AWS has.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status SNSTopicStatus `json:"status,omitempty"`
}

// Reasons of SNSTopics, and of S3Buckets that notify.
const (
	ReasonNotLetIn               = "NotLetIn" // a queue or topic does not let it send
	ReasonQueueMismatch          = "QueueMismatch"
	ReasonSubscribedTo           = "SubscribedTo"
	ReasonWaitingForConfirmation = "WaitingForConfirmation"
	ReasonWaitingForQueues       = "WaitingForQueues"
)
