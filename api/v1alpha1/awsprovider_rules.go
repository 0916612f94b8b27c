package v1alpha1

// AWSRules are what the owners of an AWS account let namespaces do with what is in it.
//
// A request may name resources of the account that are others' too. Without a list, a namespace may name only those
// that somebody with access to AWS has tagged portico.dev/namespace=<namespace>. What is listed, every namespace of the
// provider may name; "*" stands for all.
// +kubebuilder:validation:XValidation:rule="!has(self.enforcedTags) || !('Name' in self.enforcedTags)",message="the tag Name is what a machine is called; it cannot be enforced"
// +kubebuilder:validation:XValidation:rule="(has(self.defaultTags) ? size(self.defaultTags) : 0) + (has(self.enforcedTags) ? size(self.enforcedTags) : 0) <= 10",message="defaultTags and enforcedTags have room for 10 tags together: AWS takes 50 on a resource"
type AWSRules struct {
	// defaultTags go on every AWS resource; a resource's own tags win.
	// +kubebuilder:validation:MaxProperties=10
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="self.all(k, (oldSelf.hasValue() && k in oldSelf.value() && self[k] == oldSelf.value()[k]) || (k.matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$') && self[k].matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$')))",message="AWS takes letters, digits, spaces and _ . : / = + - @ in the keys and values of tags; take the others out"
	// +optional
	DefaultTags Tags `json:"defaultTags,omitempty"`
	// enforcedTags go on every AWS resource and win over its own tags of the same key.
	// +kubebuilder:validation:MaxProperties=10
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="self.all(k, (oldSelf.hasValue() && k in oldSelf.value() && self[k] == oldSelf.value()[k]) || (k.matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$') && self[k].matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$')))",message="AWS takes letters, digits, spaces and _ . : / = + - @ in the keys and values of tags; take the others out"
	// +optional
	EnforcedTags Tags `json:"enforcedTags,omitempty"`
	// forbiddenTagKeys are keys that a resource's own tags must not have, such as cost-center, in whatever case. One
	// that ends in * stands for all that begin like it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=set
	// +optional
	ForbiddenTagKeys []string `json:"forbiddenTagKeys,omitempty"`
	// allowedSubnets are the IDs of subnets that every namespace can launch machines in; * for all.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^([*]|subnet-[0-9a-z]+)$`
	// +listType=set
	// +optional
	AllowedSubnets []string `json:"allowedSubnets,omitempty"`
	// allowedSubnetGroups are the names of subnet groups that every namespace can place databases in; * for all.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=set
	// +optional
	AllowedSubnetGroups []string `json:"allowedSubnetGroups,omitempty"`
	// allowedSecurityGroups are the IDs of security groups that every namespace can put machines and databases into; *
	// for all.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^([*]|sg-[0-9a-z]+)$`
	// +listType=set
	// +optional
	AllowedSecurityGroups []string `json:"allowedSecurityGroups,omitempty"`
	// allowedKeyPairs are the names of the key pairs that every namespace can launch machines with; * for all.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=set
	// +optional
	AllowedKeyPairs []string `json:"allowedKeyPairs,omitempty"`
	// allowedParameterGroups are the names of the parameter groups that every namespace can give to its databases; *
	// for all. AWS's own groups (default.…) need not be listed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=set
	// +optional
	AllowedParameterGroups []string `json:"allowedParameterGroups,omitempty"`
	// allowedInstanceProfiles are the names or ARNs of instance profiles whose roles every namespace can give to its
	// machines; * for all.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=set
	// +optional
	AllowedInstanceProfiles []string `json:"allowedInstanceProfiles,omitempty"`
	// allowedImages are the IDs of private images of this account that every namespace can launch machines from; * for
	// all. Public images, and those that other accounts share with this one, need not be listed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=21
	// +kubebuilder:validation:items:Pattern=`^([*]|ami-[0-9a-f]{8,17})$`
	// +listType=set
	// +optional
	AllowedImages []string `json:"allowedImages,omitempty"`
	// allowedKMSKeys are the IDs, ARNs or aliases of KMS keys that every namespace can encrypt with; * for all. AWS's
	// own keys (alias/aws/…) need not be listed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=set
	// +optional
	AllowedKMSKeys []string `json:"allowedKMSKeys,omitempty"`
	// allowedDeadLetterQueues are the ARNs of queues to which the queues of every namespace can send their dead
	// letters; * for all. Those of the same namespace that a queue names by targetRef need not be listed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^([*]|arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+)$`
	// +listType=set
	// +optional
	AllowedDeadLetterQueues []string `json:"allowedDeadLetterQueues,omitempty"`
	// allowedSenders are the ARNs of topics, buckets and EventBridge rules that every namespace can let send to its
	// queues and topics; one * in an entry stands for any characters. Those of the same namespace need not be listed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^([*]|arn:aws[a-z-]*:(sns|s3|events):[^*]*[*]?[^*]*)$`
	// +listType=set
	// +optional
	AllowedSenders []string `json:"allowedSenders,omitempty"`
	// allowedPrincipals are who can be named in the policies of every namespace's queues, topics and buckets, besides
	// the AWS account itself: numbers of accounts, ARNs, or services such as events.amazonaws.com; one * in an entry
	// stands for any characters. The entry * alone lets policies open to everybody.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^[^*]*[*]?[^*]*$`
	// +listType=set
	// +optional
	AllowedPrincipals []string `json:"allowedPrincipals,omitempty"`
	// allowedSubscribers are the addresses to which every namespace's topics can send messages, such as
	// https://hooks.example.com/orders or team@example.com. A * before the @ stands for any name, at the end of a URL
	// for any path, and alone for any address.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^([*]|[*]?[^*:/@\s]*@[A-Za-z0-9.-]+|https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^*@\s]*[*]?)?)$`
	// +listType=set
	// +optional
	AllowedSubscribers []string `json:"allowedSubscribers,omitempty"`
	// guardrails limit what can be requested in the account; those of the namespace's team hold too.
	// +optional
	Guardrails *Guardrails `json:"guardrails,omitempty"`
}
