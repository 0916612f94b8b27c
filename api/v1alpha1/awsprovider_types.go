package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AWSProviderSpec says how to reach one AWS account and who can use it. Credentials come from static keys if
// accessKeyIDRef is set, else from web identity (IRSA) if roleARN is set, else from the operator's own default
// chain (EKS Pod Identity, environment, instance role). On top of them come assumeRoleChain and assumeRoleARN.
// +kubebuilder:validation:XValidation:rule="has(self.accessKeyIDRef) == has(self.secretAccessKeyRef)",message="accessKeyIDRef and secretAccessKeyRef go together: set both or neither"
// +kubebuilder:validation:XValidation:rule="!has(self.sessionTokenRef) || has(self.accessKeyIDRef)",message="sessionTokenRef needs accessKeyIDRef and secretAccessKeyRef"
// +kubebuilder:validation:XValidation:rule="!has(self.roleARN) || !has(self.accessKeyIDRef)",message="choose one source of credentials: roleARN (web identity) or accessKeyIDRef (static keys); to assume a role with static keys use assumeRoleARN"
// +kubebuilder:validation:XValidation:rule="!has(self.externalID) || has(self.assumeRoleARN)",message="externalID is sent when assumeRoleARN is assumed: set assumeRoleARN too"
// +kubebuilder:validation:XValidation:rule="!has(self.assumeRoleChain) || has(self.assumeRoleARN)",message="assumeRoleChain leads to assumeRoleARN: set assumeRoleARN too"
// +kubebuilder:validation:XValidation:rule="!has(self.assumeRoleARN) || has(self.endpoint) || !has(self.endpoints) || has(self.endpoints.sts)",message="assumeRoleARN needs STS, and this provider has none: endpoints without endpoint names all of its services; name endpoints.sts, or leave assumeRoleARN out"
// +kubebuilder:validation:XValidation:rule="!has(self.roleARN) || has(self.endpoint) || !has(self.endpoints) || has(self.endpoints.sts)",message="roleARN (web identity) needs STS, and this provider has none: endpoints without endpoint names all of its services; use accessKeyIDRef and secretAccessKeyRef instead"
// +kubebuilder:validation:XValidation:rule="has(self.accessKeyIDRef) || has(self.roleARN) || has(self.endpoint) || !has(self.endpoints) || has(self.endpoints.sts)",message="a provider without STS (endpoints, without endpoint and endpoints.sts) needs static keys, for the operator's own credentials are of AWS: set accessKeyIDRef and secretAccessKeyRef"
// +kubebuilder:validation:XValidation:rule="!has(self.allowedRegions) || self.region in self.allowedRegions",message="region must be one of allowedRegions"
type AWSProviderSpec struct {
	// region is the region of resources that do not choose one, for example eu-west-1.
	// +kubebuilder:validation:Pattern=`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	// +required
	Region string `json:"region"`
	// allowedRegions are the regions that a resource can choose. If left out, only region.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=32
	// +listType=set
	// +optional
	AllowedRegions []string `json:"allowedRegions,omitempty"`
	// allowedNamespaces selects, by label, the namespaces that can use this AWS account. If left out, no namespace can;
	// an empty selector ({}) allows all.
	// +optional
	AllowedNamespaces *metav1.LabelSelector `json:"allowedNamespaces,omitempty"`
	// accountID that the credentials must belong to. If left out, the first account seen is pinned in status. Without
	// STS (see endpoints) it must be set, and is taken on trust: nothing tells whether the credentials, or another
	// server behind the same endpoint, are of this account.
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:Pattern=`^[0-9]{12}$`
	// +optional
	AccountID string `json:"accountID,omitempty"`
	// roleARN is assumed with the operator's web identity token (IRSA).
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:iam::[0-9]{12}:role/.+$`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	RoleARN string `json:"roleARN,omitempty"`
	// accessKeyIDRef names the Secret key, in the operator's namespace, that holds a static access key ID. The Secret
	// needs the label portico.dev/secret-type: aws-credentials, or it is not read.
	// +optional
	AccessKeyIDRef *SecretKeyRef `json:"accessKeyIDRef,omitempty"`
	// secretAccessKeyRef names the Secret key, in the operator's namespace, that holds the secret access key.
	// +optional
	SecretAccessKeyRef *SecretKeyRef `json:"secretAccessKeyRef,omitempty"`
	// sessionTokenRef names the Secret key, in the operator's namespace, that holds a session token.
	// +optional
	SessionTokenRef *SecretKeyRef `json:"sessionTokenRef,omitempty"`
	// assumeRoleChain are roles assumed one after the other before assumeRoleARN.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	// +listType=atomic
	// +optional
	AssumeRoleChain []AssumedRole `json:"assumeRoleChain,omitempty"`
	// assumeRoleARN is assumed last; its session carries the tags portico.dev/cluster, portico.dev/namespace and
	// portico.dev/bucket-prefix, so that IAM policies can tell teams apart.
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:iam::[0-9]{12}:role/.+$`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	AssumeRoleARN string `json:"assumeRoleARN,omitempty"`
	// externalID is sent when assumeRoleARN is assumed.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1224
	// +optional
	ExternalID string `json:"externalID,omitempty"`
	AWSRules   `json:",inline"`
	// workloadIdentity says how Pods of this cluster get rights in the account, for what they are bound to. If left
	// out, they get none.
	// +optional
	WorkloadIdentity *WorkloadIdentity `json:"workloadIdentity,omitempty"`
	// endpoint replaces AWS's own endpoints, for an AWS-compatible server or a simulator that has STS and every other
	// service that is used. The operator's flag --allowed-endpoints must name it; a web identity token never goes
	// there. Single services can be elsewhere, see endpoints.
	// +kubebuilder:validation:Pattern=`^https?://[^ ]+$`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// endpoints are those of single services, for servers that speak the protocol of one, such as MinIO or ElasticMQ.
	// They win over endpoint. Without endpoint they are all that this provider has: no other service is called, neither
	// at AWS nor elsewhere. Without sts, too, there is nothing to ask whose the credentials are: accountID must say it,
	// the credentials must be static keys, and they are checked by listing what is at each endpoint. The operator's
	// flag --allowed-endpoints must name each.
	// +optional
	Endpoints *ServiceEndpoints `json:"endpoints,omitempty"`
}

// WorkloadIdentity is how Pods get rights in AWS.
// +kubebuilder:validation:XValidation:rule="self.mode == 'None' || has(self.boundaryARN)",message="boundaryARN is missing: the IAM policy that is the most that any Pod may do"
// +kubebuilder:validation:XValidation:rule="self.mode != 'PodIdentity' || has(self.clusterName) != has(self.clusterProviderRef)",message="PodIdentity needs clusterName, the EKS cluster that Portico runs in, or, where that is in another account, clusterProviderRef; one of the two"
// +kubebuilder:validation:XValidation:rule="self.mode != 'IRSA' || has(self.oidcProviderARN)",message="IRSA needs oidcProviderARN, the account's identity provider for the cluster that Portico runs in"
type WorkloadIdentity struct {
	// mode of the rights. PodIdentity creates one role for each namespace, and for each ServiceAccount an EKS Pod
	// Identity association, limited to what it is bound to. IRSA creates one role for each ServiceAccount, for clusters
	// without the EKS Pod Identity agent. None gives no rights.
	// +required
	Mode WorkloadIdentityMode `json:"mode"`
	// clusterName of the EKS cluster that Portico runs in, in this account and region. For PodIdentity.
	// +kubebuilder:validation:Pattern=`^[0-9A-Za-z][A-Za-z0-9_-]*$`
	// +kubebuilder:validation:MaxLength=100
	// +optional
	ClusterName string `json:"clusterName,omitempty"`
	// clusterProviderRef names the AWSProvider of the account that the cluster is in, where that is another one: its
	// workloadIdentity is of mode PodIdentity and names the cluster. Pods then act as a role there, which can do
	// nothing but act as the role here. For PodIdentity.
	// +optional
	ClusterProviderRef *LocalRef `json:"clusterProviderRef,omitempty"`
	// oidcProviderARN of the IAM identity provider, in this account, that stands for the cluster that Portico runs in.
	// For IRSA.
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:iam::[0-9]{12}:oidc-provider/.+$`
	// +kubebuilder:validation:MaxLength=512
	// +optional
	OIDCProviderARN string `json:"oidcProviderARN,omitempty"`
	// boundaryARN is the IAM policy that is the permissions boundary of every role that Portico makes: no Pod can do
	// more.
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:iam::([0-9]{12}|aws):policy/.+$`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	BoundaryARN string `json:"boundaryARN,omitempty"`
	// maxPerNamespace is how many AccessBindings a namespace may have by this AWSProvider, those that its WebApps make
	// among them; 100 if left out. Each takes an EKS Pod Identity association, or with IRSA an IAM role, of which AWS
	// has room for so many in all.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=5000
	// +optional
	MaxPerNamespace *int32 `json:"maxPerNamespace,omitempty"`
}

// ConditionAuthenticated is the condition of an AWSProvider that its credentials are valid and belong to the right
// account. It differs from Ready while a provider in use is being deleted: its resources still need it.
const ConditionAuthenticated = "Authenticated"

// WorkloadIdentityMode is a way in which Pods get rights.
// +kubebuilder:validation:Enum=PodIdentity;IRSA;None
type WorkloadIdentityMode string

// The ways in which Pods get rights.
const (
	WorkloadIdentityPodIdentity WorkloadIdentityMode = "PodIdentity"
	WorkloadIdentityIRSA        WorkloadIdentityMode = "IRSA"
	WorkloadIdentityNone        WorkloadIdentityMode = "None"
)

// GivesRights reports whether Pods get rights in the account.
func (w *WorkloadIdentity) GivesRights() bool { return w != nil && w.Mode != WorkloadIdentityNone }

// defaultShare is how many AccessBindings a namespace may have where nothing else is said.
const defaultShare = 100

// Share returns how many AccessBindings a namespace may have.
func (w *WorkloadIdentity) Share() int {
	if w == nil || w.MaxPerNamespace == nil {
		return defaultShare
	}
	return int(*w.MaxPerNamespace)
}

// NamesCluster reports whether it says which EKS cluster Portico runs in, of the AWSProvider's own account.
func (w *WorkloadIdentity) NamesCluster() bool {
	return w != nil && w.Mode == WorkloadIdentityPodIdentity && w.ClusterName != ""
}

// ServiceEndpoints are the endpoints of single services.
// +kubebuilder:validation:MinProperties=1
type ServiceEndpoints struct {
	// s3 is where buckets are.
	// +kubebuilder:validation:Pattern=`^https?://[^ ]+$`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	S3 string `json:"s3,omitempty"`
	// sqs is where queues are.
	// +kubebuilder:validation:Pattern=`^https?://[^ ]+$`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	SQS string `json:"sqs,omitempty"`
	// sns is where topics are.
	// +kubebuilder:validation:Pattern=`^https?://[^ ]+$`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	SNS string `json:"sns,omitempty"`
	// sts tells which account the credentials belong to, and issues sessions of roles. It must know GetCallerIdentity,
	// which MinIO's does not.
	// +kubebuilder:validation:Pattern=`^https?://[^ ]+$`
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	STS string `json:"sts,omitempty"`
}

// AssumedRole is one link of a chain of roles.
type AssumedRole struct {
	// roleARN of the role.
	// +kubebuilder:validation:Pattern=`^arn:[a-z-]+:iam::[0-9]{12}:role/.+$`
	// +kubebuilder:validation:MaxLength=2048
	// +required
	RoleARN string `json:"roleARN"`
	// externalID that the role's trust policy asks for.
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1224
	// +optional
	ExternalID string `json:"externalID,omitempty"`
}

// AWSProviderStatus says who the credentials are.
type AWSProviderStatus struct {
	CommonStatus `json:",inline"`
	// accountID is the AWS account, pinned after the first success: credentials of another account are refused.
	// +optional
	AccountID string `json:"accountID,omitempty"`
	// callerIdentity is the ARN that AWS knows the operator by; empty without STS.
	// +optional
	CallerIdentity string `json:"callerIdentity,omitempty"`
	// lastAuthenticationTime is when the identity or the credentials last changed; they are checked every 5 minutes.
	// +optional
	LastAuthenticationTime *metav1.Time `json:"lastAuthenticationTime,omitempty"`
	// credentialsVersion tells versions of the Secrets apart that the credentials come from; empty for other sources.
	// +optional
	CredentialsVersion string `json:"credentialsVersion,omitempty"`
	// resources is how many resources used this provider when it was last checked.
	// +optional
	Resources int64 `json:"resources"`
	// workloadIdentity is how much room there is for rights of Pods, where the provider gives them any.
	// +optional
	WorkloadIdentity *WorkloadIdentityStatus `json:"workloadIdentity,omitempty"`
}

// AWSProvider is an AWS account that teams can be given. It is cluster-scoped and owned by platform
// admins; its Secret references resolve in the operator's namespace only.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=awsp,categories=portico-admin
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Account",type=string,JSONPath=`.status.accountID`
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.spec.region`
// +kubebuilder:printcolumn:name="Resources",type=integer,JSONPath=`.status.resources`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Identity",type=string,JSONPath=`.status.callerIdentity`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
type AWSProvider struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the account and who can use it.
	// +required
	Spec AWSProviderSpec `json:"spec"`
	// status is what Portico found.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status AWSProviderStatus `json:"status,omitempty"`
}
