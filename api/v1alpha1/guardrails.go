package v1alpha1

// Guardrails limit what can be requested. A rule that is left out limits nothing. They hold for what is new and for
// every change; what is there already stays, and its condition says which rule it breaks. Resources that are only
// observed are not limited.
type Guardrails struct {
	// allowedInstanceTypes are the types of EC2 instances that can be launched, such as t3.micro. One * in an entry
	// stands for any characters: t3.*, or *.micro.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9.-]*[*]?[a-z0-9.-]*$`
	// +listType=set
	// +optional
	AllowedInstanceTypes []string `json:"allowedInstanceTypes,omitempty"`
	// allowedDatabaseClasses are the instance classes that databases can have, such as db.t4g.micro. One * in an entry
	// stands for any characters: db.t4g.*.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9.-]*[*]?[a-z0-9.-]*$`
	// +listType=set
	// +optional
	AllowedDatabaseClasses []string `json:"allowedDatabaseClasses,omitempty"`
	// allowedEngines are the engines that databases can have, and their versions.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +listType=map
	// +listMapKey=engine
	// +optional
	AllowedEngines []AllowedEngine `json:"allowedEngines,omitempty"`
	// maxVolumeSizeGiB is the largest size of a volume of an EC2 instance. Each entry of blockDeviceMappings must then
	// say its volumeSize. Volumes that an image brings along count too.
	// +kubebuilder:validation:Minimum=1
	// +optional
	MaxVolumeSizeGiB *int32 `json:"maxVolumeSizeGiB,omitempty"`
	// maxDatabaseStorageGiB is the largest storage of a database, and the limit of its autoscaling.
	// +kubebuilder:validation:Minimum=20
	// +optional
	MaxDatabaseStorageGiB *int32 `json:"maxDatabaseStorageGiB,omitempty"`
	// allowedImageOwners are the owners of the images that EC2 instances can be launched from: self for the account of
	// the AWSProvider, amazon for AWS's own, or the ID of an account.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=12
	// +kubebuilder:validation:items:Pattern=`^(self|amazon|[0-9]{12})$`
	// +listType=set
	// +optional
	AllowedImageOwners []string `json:"allowedImageOwners,omitempty"`
	// requirePrivateBuckets true keeps all of a bucket's public access blocks on.
	// +optional
	RequirePrivateBuckets bool `json:"requirePrivateBuckets,omitempty"`
	// requirePrivateDatabases true keeps databases off public addresses.
	// +optional
	RequirePrivateDatabases bool `json:"requirePrivateDatabases,omitempty"`
	// requireEncryption true requires that the data of databases, volumes, queues and topics is encrypted at rest. A
	// topic then needs a KMS key. S3 encrypts always; its buckets must not answer requests without TLS (requireTLS
	// false).
	// +optional
	RequireEncryption bool `json:"requireEncryption,omitempty"`
	// forbidExtendedSupport true keeps databases of MySQL and PostgreSQL out of paid Extended Support.
	// +optional
	ForbidExtendedSupport bool `json:"forbidExtendedSupport,omitempty"`
	// requireIMDSv2 true requires session tokens at the metadata service of EC2 instances (IMDSv2).
	// +optional
	RequireIMDSv2 bool `json:"requireIMDSv2,omitempty"`
}

// AllowedEngine is a database engine that can be requested.
type AllowedEngine struct {
	// engine of the database.
	// +kubebuilder:validation:Enum=postgres;mysql;mariadb;oracle-ee;oracle-se2;sqlserver-ee;sqlserver-se;sqlserver-ex;sqlserver-web
	// +required
	Engine string `json:"engine"`
	// versions that can be requested, such as 16.4, or 16.* for every 16; if left out, all can. With versions, a
	// request must name its engineVersion.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^[0-9A-Za-z.-]*[*]?[0-9A-Za-z.-]*$`
	// +listType=set
	// +optional
	Versions []string `json:"versions,omitempty"`
}

// TeamGuardrails limit what a team can request. They narrow what the AWSProvider allows, and widen nothing.
// +kubebuilder:validation:XValidation:rule="!has(self.enforcedTags) || !('Name' in self.enforcedTags)",message="the tag Name is what a machine is called; it cannot be enforced"
type TeamGuardrails struct {
	Guardrails `json:",inline"`
	// allowedImageRegistries are where the images of the team's web apps can come from: a repository such as
	// registry.example.com/shop/web, or everything below a path, such as registry.example.com/*. Images of Docker Hub
	// are below docker.io, its own ones below docker.io/library.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=255
	// +kubebuilder:validation:items:Pattern=`^([a-zA-Z0-9-]+[.][a-zA-Z0-9.-]+|[a-zA-Z0-9.-]+:[0-9]+|localhost)(/[a-z0-9._-]+)*/([*]|[a-z0-9._-]+)$`
	// +listType=set
	// +optional
	AllowedImageRegistries []string `json:"allowedImageRegistries,omitempty"`
	// enforcedTags go on every AWS resource of the team and win over its own tags of the same key; those of the
	// AWSProvider win over them.
	// +kubebuilder:validation:MaxProperties=10
	// +kubebuilder:validation:XValidation:optionalOldSelf=true,rule="self.all(k, (oldSelf.hasValue() && k in oldSelf.value() && self[k] == oldSelf.value()[k]) || (k.matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$') && self[k].matches(r'^[\\p{L}\\p{Z}\\p{N}_.:/=+@-]*$')))",message="AWS takes letters, digits, spaces and _ . : / = + - @ in the keys and values of tags; take the others out"
	// +optional
	EnforcedTags Tags `json:"enforcedTags,omitempty"`
	// forbiddenTagKeys are keys that a resource's own tags must not have, in whatever case. One that ends in * stands
	// for all that begin like it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=128
	// +listType=set
	// +optional
	ForbiddenTagKeys []string `json:"forbiddenTagKeys,omitempty"`
	TeamReferences   `json:",inline"`
}

// TeamReferences are the resources of an AWS account that a team can name. The AWSProvider must admit them too: by a
// list of its own, or by their tag portico.dev/namespace.
type TeamReferences struct {
	// allowedSubnets are the IDs of the subnets that the team's machines can be in; each must then name one.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^subnet-[0-9a-z]+$`
	// +listType=set
	// +optional
	AllowedSubnets []string `json:"allowedSubnets,omitempty"`
	// allowedSubnetGroups are the names of the subnet groups that the team's databases can be in; each must then name
	// one.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=set
	// +optional
	AllowedSubnetGroups []string `json:"allowedSubnetGroups,omitempty"`
	// allowedSecurityGroups are the IDs of the security groups that the team's machines and databases can be in; each
	// must then name some.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^sg-[0-9a-z]+$`
	// +listType=set
	// +optional
	AllowedSecurityGroups []string `json:"allowedSecurityGroups,omitempty"`
	// allowedKeyPairs are the names of the key pairs that the team's machines can be launched with.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=set
	// +optional
	AllowedKeyPairs []string `json:"allowedKeyPairs,omitempty"`
	// allowedParameterGroups are the names of the parameter groups that the team's databases can have. AWS's own groups
	// (default.…) need not be listed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	// +listType=set
	// +optional
	AllowedParameterGroups []string `json:"allowedParameterGroups,omitempty"`
	// allowedInstanceProfiles are the names or ARNs of the instance profiles that the team's machines can have.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=set
	// +optional
	AllowedInstanceProfiles []string `json:"allowedInstanceProfiles,omitempty"`
	// allowedImages are the IDs of the images that the team's machines can be launched from, even if others own them.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=21
	// +kubebuilder:validation:items:Pattern=`^ami-[0-9a-f]{8,17}$`
	// +listType=set
	// +optional
	AllowedImages []string `json:"allowedImages,omitempty"`
	// allowedKMSKeys are the IDs, ARNs or aliases of the KMS keys that the team can encrypt with. AWS's own keys
	// (alias/aws/…) need not be listed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=2048
	// +listType=set
	// +optional
	AllowedKMSKeys []string `json:"allowedKMSKeys,omitempty"`
	// allowedDeadLetterQueues are the ARNs of the queues to which the team's queues can send their dead letters. Those
	// of the same namespace that a queue names by targetRef need not be listed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$`
	// +listType=set
	// +optional
	AllowedDeadLetterQueues []string `json:"allowedDeadLetterQueues,omitempty"`
	// allowedSenders are the ARNs of topics, buckets and EventBridge rules that the team can let send to its queues and
	// topics; one * in an entry stands for any characters. Those of the same namespace need not be listed.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^([*]|arn:aws[a-z-]*:(sns|s3|events):[^*]*[*]?[^*]*)$`
	// +listType=set
	// +optional
	AllowedSenders []string `json:"allowedSenders,omitempty"`
	// allowedPrincipals are who can be named in the policies of the team's queues, topics and buckets, besides the AWS
	// account itself: numbers of accounts, ARNs, or services such as events.amazonaws.com; one * in an entry stands for
	// any characters. The entry * alone lets policies open to everybody.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^[^*]*[*]?[^*]*$`
	// +listType=set
	// +optional
	AllowedPrincipals []string `json:"allowedPrincipals,omitempty"`
	// allowedSubscribers are the addresses to which the team's topics can send messages, such as
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
}

// ReasonNotAllowed is the reason of what breaks a guardrail of its team or AWS account.
const ReasonNotAllowed = "NotAllowed"
