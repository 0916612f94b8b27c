package v1alpha1

// Sender is somebody who can send to a queue, or publish to a topic.
// +kubebuilder:validation:XValidation:rule="(has(self.topicRef) ? 1 : 0) + (has(self.bucketRef) ? 1 : 0) + (has(self.arn) ? 1 : 0) == 1",message="name one sender: by topicRef (an SNSTopic of this namespace), by bucketRef (an S3Bucket of this namespace) or by arn"
// +kubebuilder:validation:XValidation:rule="!has(self.account) || (has(self.arn) && self.arn.contains(':s3:::'))",message="account goes with the arn of a bucket: all other ARNs name their account"
// +kubebuilder:validation:XValidation:rule="!has(self.arn) || !self.arn.contains(':s3:::') || has(self.account)",message="the arn of a bucket names no account: add account, the AWS account that owns the bucket"
type Sender struct {
	// topicRef names an SNSTopic of this namespace.
	// +optional
	TopicRef *LocalRef `json:"topicRef,omitempty"`
	// bucketRef names an S3Bucket of this namespace.
	// +optional
	BucketRef *LocalRef `json:"bucketRef,omitempty"`
	// arn is that of a topic, a bucket or an EventBridge rule that is no object of this namespace. A platform admin
	// allows it by allowedSenders.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^arn:aws[a-z-]*:(sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+([.]fifo)?|s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|events:[a-z0-9-]+:[0-9]{12}:rule/[A-Za-z0-9_./-]+)$`
	// +optional
	ARN string `json:"arn,omitempty"`
	// account is the AWS account that owns the bucket that arn names.
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:Pattern=`^[0-9]{12}$`
	// +optional
	Account string `json:"account,omitempty"`
}

// Senders are those who can send or publish.
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=20
// +kubebuilder:validation:XValidation:rule="self.all(s, self.exists_one(o, o == s))",message="name each sender once"
// +listType=atomic
type Senders []Sender

// refs returns the objects of the namespace among the senders.
func (s Senders) refs() (all []ObjectRef) {
	for _, one := range s {
		switch {
		case one.TopicRef != nil:
			all = append(all, ObjectRef{KindSNSTopic, one.TopicRef.Name})
		case one.BucketRef != nil:
			all = append(all, ObjectRef{KindS3Bucket, one.BucketRef.Name})
		}
	}
	return all
}
