package v1alpha1

// S3Notification sends a message when something happens to objects. The queue or topic must let the bucket send, by its
// allowFrom.
// +kubebuilder:validation:XValidation:rule="has(self.queueRef) != has(self.topicRef)",message="name a queueRef (an SQSQueue of this namespace) or a topicRef (an SNSTopic), not both"
type S3Notification struct {
	// queueRef names a standard SQSQueue of this namespace, in the bucket's region.
	// +optional
	QueueRef *LocalRef `json:"queueRef,omitempty"`
	// topicRef names a standard SNSTopic of this namespace, in the bucket's region.
	// +optional
	TopicRef *LocalRef `json:"topicRef,omitempty"`
	// events that send a message, such as s3:ObjectCreated:* for new objects of any kind.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:Enum="s3:ObjectCreated:*";"s3:ObjectCreated:Put";"s3:ObjectCreated:Post";"s3:ObjectCreated:Copy";"s3:ObjectCreated:CompleteMultipartUpload";"s3:ObjectRemoved:*";"s3:ObjectRemoved:Delete";"s3:ObjectRemoved:DeleteMarkerCreated";"s3:ObjectRestore:*";"s3:ObjectRestore:Post";"s3:ObjectRestore:Completed";"s3:ObjectRestore:Delete";"s3:LifecycleExpiration:*";"s3:LifecycleExpiration:Delete";"s3:LifecycleExpiration:DeleteMarkerCreated";"s3:LifecycleTransition";"s3:ObjectTagging:*";"s3:ObjectTagging:Put";"s3:ObjectTagging:Delete"
	// +listType=set
	// +required
	Events []string `json:"events"`
	// prefix of the keys of the objects; if left out, of any.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Prefix string `json:"prefix,omitempty"`
	// suffix of the keys of the objects; if left out, of any.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Suffix string `json:"suffix,omitempty"`
}
