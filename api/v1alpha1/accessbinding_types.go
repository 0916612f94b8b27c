package v1alpha1

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AccessBindingSpec is what the Pods of a ServiceAccount may do in AWS.
type AccessBindingSpec struct {
	// providerRef names the AWSProvider of the resources, whose workloadIdentity says how Pods get rights. Immutable
	// once it is created.
	// +required
	ProviderRef LocalRef `json:"providerRef"`
	// serviceAccountName is the ServiceAccount of this namespace whose Pods get the rights. Immutable once it is
	// created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	ServiceAccountName string `json:"serviceAccountName"`
	// resources that the Pods can use, of this namespace and AWS account. Name each one once.
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self.all(r, self.exists_one(o, o.kind == r.kind && o.name == r.name))",message="the list names a resource twice; choose one access for it"
	// +listType=atomic
	// +optional
	Resources []AccessBindingResource `json:"resources,omitempty"`
}

// AccessBindingResource is a resource, and what may be done with it.
// +kubebuilder:validation:XValidation:rule="!has(self.access) || self.kind != 'SNSTopic' || self.access != 'Read'",message="nobody reads from a topic: choose Write, or bind a queue that the topic delivers to"
type AccessBindingResource struct {
	// kind of the resource.
	// +kubebuilder:validation:Enum=S3Bucket;SNSTopic;SQSQueue
	// +required
	Kind string `json:"kind"`
	// name of the resource, in this namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`
	// access to the resource: Read its objects or messages, Write, or ReadWrite, which counts if nothing is chosen.
	// +optional
	Access BindingAccess `json:"access,omitempty"`
}

// Steps of an AccessBinding, in order; each is the type of a condition.
const (
	StepResources   = "ResourcesReady"
	StepRole        = "RoleReady"
	StepAssociation = "AssociationReady" // with EKS Pod Identity; with IRSA it is StepServiceAccount
)

// AccessBindingStatus is what AWS has.
type AccessBindingStatus struct {
	CommonStatus `json:",inline"`
	// region in which the rights are managed: that of the AWSProvider.
	// +optional
	Region string `json:"region,omitempty"`
	// accountID of the AWS account.
	// +optional
	AccountID string `json:"accountID,omitempty"`
	// mode by which the Pods get the rights.
	// +optional
	Mode WorkloadIdentityMode `json:"mode,omitempty"`
	// clusterName is the EKS cluster of the association.
	// +optional
	ClusterName string `json:"clusterName,omitempty"`
	// clusterAccount is where the association is, if the cluster is in another account than the resources.
	// +optional
	ClusterAccount *ClusterAccount `json:"clusterAccount,omitempty"`
	// roleARN of the role that the Pods act as. With EKS Pod Identity all ServiceAccounts of the namespace share it,
	// each limited by its own policy.
	// +optional
	RoleARN string `json:"roleARN,omitempty"`
	// associationARN of the EKS Pod Identity association.
	// +optional
	AssociationARN string `json:"associationARN,omitempty"`
	// policy that AWS has: what the Pods may do.
	// +optional
	Policy string `json:"policy,omitempty"`
	// roleUse is when the role was last used, as far as AWS tells. With EKS Pod Identity that is by any Pod of the
	// namespace, for they share the role.
	// +optional
	RoleUse *RoleUse `json:"roleUse,omitempty"`
}

// ClusterAccount is the account of the cluster.
type ClusterAccount struct {
	// provider is the AWSProvider of the account.
	// +required
	Provider string `json:"provider"`
	// region of the cluster.
	// +optional
	Region string `json:"region,omitempty"`
	// accountID of the account.
	// +optional
	AccountID string `json:"accountID,omitempty"`
	// roleARN of the role there by which Pods come to their own. All ServiceAccounts of the namespace share it; it may
	// do nothing else.
	// +optional
	RoleARN string `json:"roleARN,omitempty"`
}

// RoleUse is when a role was last used.
type RoleUse struct {
	// readTime is when AWS said so; that is once a day.
	// +required
	ReadTime metav1.Time `json:"readTime"`
	// lastUsedTime is when something last called AWS as the role. AWS shows it up to four hours late, and for 400 days;
	// empty: not in that time.
	// +optional
	LastUsedTime *metav1.Time `json:"lastUsedTime,omitempty"`
	// lastUsedRegion is where that was.
	// +optional
	LastUsedRegion string `json:"lastUsedRegion,omitempty"`
}

// AccessBinding gives the Pods of a ServiceAccount rights in AWS, to resources of its namespace. A WebApp makes one for
// itself.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ab,categories=portico
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="ServiceAccount",type=string,JSONPath=`.spec.serviceAccountName`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.providerRef.name`,priority=1
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.status.roleARN`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:fieldPath=".spec.providerRef",rule="!has(self.status) || !(has(self.status.accountID)) || (self.spec.providerRef == oldSelf.spec.providerRef)",message="providerRef is immutable: the rights would stay behind in the old account; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.serviceAccountName",rule="!has(self.status) || !(has(self.status.accountID)) || (self.spec.serviceAccountName == oldSelf.spec.serviceAccountName)",message="serviceAccountName is immutable: its Pods would keep the rights; delete this object and request a new one"
type AccessBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the Pods may do.
	// +required
	Spec AccessBindingSpec `json:"spec"`
	// status is what AWS has.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status AccessBindingStatus `json:"status,omitempty"`
}

// Reasons of AccessBindings.
const (
	ReasonNoWorkloadIdentity       = "NoWorkloadIdentity"
	ReasonPolicyTooLong            = "PolicyTooLong"
	ReasonServiceAccountHasRole    = "ServiceAccountHasRole"
	ReasonWaitingForServiceAccount = "WaitingForServiceAccount"
)

// AnnotationRoleARN is where EKS looks for the role that the Pods of a ServiceAccount act as by IRSA.
const AnnotationRoleARN = "eks.amazonaws.com/role-arn"

// MadeByWebApp reports whether a WebApp has made the object for itself: what it names, the WebApp names.
func MadeByWebApp(obj metav1.Object) bool {
	owner := metav1.GetControllerOf(obj)
	return owner != nil && owner.Kind == KindWebApp && strings.HasPrefix(owner.APIVersion, GroupVersion.Group+"/")
}

// References returns the resources.
func (a *AccessBinding) References() (all []ObjectRef) {
	for _, r := range a.Spec.Resources {
		all = append(all, ObjectRef{r.Kind, r.Name})
	}
	return all
}
