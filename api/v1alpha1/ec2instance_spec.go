package v1alpha1

// EC2InstanceSpec is the virtual machine that a team wants. A field left out is not managed and keeps AWS's default,
// but three defaults are stricter than AWS's at the launch: the metadata service asks for session tokens (IMDSv2),
// volumes that blockDeviceMappings names are encrypted, and burstable types do not bill for more CPU than they earn.
// +kubebuilder:validation:XValidation:rule="has(self.imageID) != has(self.imageSSMParameter)",message="name the image by exactly one of imageID and imageSSMParameter"
// +kubebuilder:validation:XValidation:rule="!(has(self.userData) && has(self.userDataFrom))",message="give the user data by at most one of userData and userDataFrom"
// +kubebuilder:validation:XValidation:rule="!has(self.tags) || !('Name' in self.tags)",message="the tag Name is the instanceName; set that"
// +kubebuilder:validation:XValidation:rule="!has(self.creditSpecification) || self.instanceType.matches('^t[2-9][a-z]*[.]')",message="creditSpecification is of burstable types only, such as t3.micro; remove it, or choose one of those"
type EC2InstanceSpec struct {
	AWSSpec `json:",inline"`
	// instanceName is the instance's tag Name, which AWS's console shows. It need not be unique.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +required
	InstanceName string `json:"instanceName"`
	// instanceType is the size of the machine, such as t3.micro. A change needs the instance stopped: see allowStop.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9-]*[.][a-z0-9-]+$')",message="an instance type looks like t3.micro"
	// +required
	InstanceType string `json:"instanceType"`
	// imageID is the Amazon Machine Image that the instance is launched from. Immutable once it is created.
	// +kubebuilder:validation:MaxLength=21
	// +kubebuilder:validation:XValidation:rule="self.matches('^ami-[0-9a-f]{8,17}$')",message="an image ID looks like ami-0123456789abcdef0"
	// +optional
	ImageID string `json:"imageID,omitempty"`
	// imageSSMParameter is an SSM parameter that holds the ID of the image, such as
	// /aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64. It is read at the launch and never
	// afterwards. Immutable once it is created.
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_./-]+(:[A-Za-z0-9_.-]+)?$')",message="the name of an SSM parameter has letters, digits, dots, hyphens, underscores and slashes, and may end with a colon and a version or label"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('/aws/reference/')",message="a reference to a secret cannot name an image; name an SSM parameter that holds an image ID"
	// +optional
	ImageSSMParameter string `json:"imageSSMParameter,omitempty"`
	// keyName is the EC2 key pair for SSH. Immutable once it is created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +optional
	KeyName string `json:"keyName,omitempty"`
	// subnetID is the subnet, and with it the network and the availability zone. If left out, AWS chooses one of the
	// default VPC. Immutable once it is created.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^subnet-[0-9a-z]+$')",message="a subnet ID looks like subnet-0123456789abcdef0"
	// +optional
	SubnetID string `json:"subnetID,omitempty"`
	// securityGroupIDs are the security groups. If set, they are all that the instance has.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:items:Pattern=`^sg-[0-9a-z]+$`
	// +listType=set
	// +optional
	SecurityGroupIDs []string `json:"securityGroupIDs,omitempty"`
	// iamInstanceProfile is the name or ARN of the instance profile whose role the machine's programs get.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(arn:[a-z-]+:iam::[0-9]{12}:instance-profile/([!-~]+/)?)?[A-Za-z0-9_+=,.@-]+$')",message="give an instance profile's name, or its ARN"
	// +optional
	IAMInstanceProfile string `json:"iamInstanceProfile,omitempty"`
	// userData is what the machine runs at its first start, such as a shell script or cloud-config. Everybody who is on
	// the machine, or can describe it in AWS, can read it: secrets do not belong here. Immutable once it is created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 16384",message="EC2 takes 16,384 bytes of user data: shorten it, or fetch the rest from a bucket at the start"
	// +optional
	UserData string `json:"userData,omitempty"`
	// userDataFrom takes the user data from a Secret or a ConfigMap of this namespace. It is read at the launch and
	// never afterwards. Immutable once it is created.
	// +optional
	UserDataFrom     *EC2UserDataSource `json:"userDataFrom,omitempty"`
	EC2StorageSpec   `json:",inline"`
	EC2OperationSpec `json:",inline"`
}

// EC2UserDataSource is where user data comes from.
// +kubebuilder:validation:XValidation:rule="has(self.secretKeyRef) != has(self.configMapKeyRef)",message="name exactly one of secretKeyRef and configMapKeyRef"
type EC2UserDataSource struct {
	// secretKeyRef names a key of a Secret.
	// +optional
	SecretKeyRef *SecretKeyRef `json:"secretKeyRef,omitempty"`
	// configMapKeyRef names a key of a ConfigMap.
	// +optional
	ConfigMapKeyRef *ConfigMapKeyRef `json:"configMapKeyRef,omitempty"`
}

// EC2OperationSpec is how an instance is run and given up.
type EC2OperationSpec struct {
	// monitoring true measures every minute instead of every five, at a price.
	// +optional
	Monitoring *bool `json:"monitoring,omitempty"`
	// disableApiTermination true refuses every deletion of the instance, Portico's too. Portico switches it off only if
	// you set it to false.
	// +optional
	DisableAPITermination *bool `json:"disableApiTermination,omitempty"`
	// ebsOptimized true reserves bandwidth for the volumes, on instance types that offer the choice. A change needs the
	// instance stopped: see allowStop.
	// +optional
	EBSOptimized *bool `json:"ebsOptimized,omitempty"`
	// creditSpecification of a burstable type (T2, T3, T3a, T4g): standard slows the machine down once it has used up
	// its CPU credits, unlimited lets it go on, and AWS bills for that. If left out, the machine is launched as
	// standard and left alone afterwards.
	// +kubebuilder:validation:Enum=standard;unlimited
	// +optional
	CreditSpecification string `json:"creditSpecification,omitempty"`
	// metadataOptions of the service that tells programs on the machine about it, and hands out the role's credentials.
	// +optional
	MetadataOptions *EC2MetadataOptions `json:"metadataOptions,omitempty"`
	// state Running starts the instance whenever it is stopped, Stopped stops it. If left out, Portico leaves it as it
	// is.
	// +kubebuilder:validation:Enum=Running;Stopped
	// +optional
	State string `json:"state,omitempty"`
	// allowStop lets Portico stop and start the instance to change instanceType or ebsOptimized.
	// +optional
	AllowStop bool `json:"allowStop,omitempty"`
	// tags of the instance, in addition to the default tags of the AWS account and Name. At the launch its volumes get
	// them too.
	// +kubebuilder:validation:MaxProperties=34
	// +optional
	Tags Tags `json:"tags,omitempty"`
	// deletionPolicy is what happens to the machine when you delete it. Delete terminates it, and refuses while
	// disableApiTermination is on. Stop stops and keeps it, and Retain keeps it as it is: the same request can manage
	// it again later. Orphan keeps it and removes Portico's tags.
	// +kubebuilder:validation:Enum=Delete;Retain;Orphan;Stop
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// EC2MetadataOptions are the settings of the instance metadata service; each that is left out is not managed, but for
// httpTokens.
// +kubebuilder:validation:XValidation:rule="!has(self.httpEndpoint) || self.httpEndpoint == 'enabled' || !(has(self.httpTokens) || has(self.httpPutResponseHopLimit))",message="httpTokens and httpPutResponseHopLimit need httpEndpoint enabled"
type EC2MetadataOptions struct {
	// httpTokens required refuses requests without a session token (IMDSv2). If left out, it is required, and Portico
	// requires it again if somebody changes it in AWS. An adopted instance stays as it is until you set this once.
	// +kubebuilder:validation:Enum=required;optional
	// +optional
	HTTPTokens string `json:"httpTokens,omitempty"`
	// httpPutResponseHopLimit is how many network hops a session token survives; containers on the machine need 2.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +optional
	HTTPPutResponseHopLimit *int32 `json:"httpPutResponseHopLimit,omitempty"`
	// httpEndpoint disabled switches the service off.
	// +kubebuilder:validation:Enum=enabled;disabled
	// +optional
	HTTPEndpoint string `json:"httpEndpoint,omitempty"`
}
