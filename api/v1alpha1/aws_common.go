package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DeletionPolicy says what becomes of the AWS resource when its object is deleted.
type DeletionPolicy string

// The deletion policies; each kind lists those it offers.
const (
	// DeletionDelete removes the AWS resource, unless data would be lost.
	DeletionDelete DeletionPolicy = "Delete"
	// DeletionRetain keeps it and its ownership tags, so that the same object can take it back.
	DeletionRetain DeletionPolicy = "Retain"
	// DeletionOrphan keeps it and removes Portico's tags from it.
	DeletionOrphan DeletionPolicy = "Orphan"
	// DeletionStop stops it and keeps it and its ownership tags.
	DeletionStop DeletionPolicy = "Stop"
)

// AdoptionPolicy says what to do with an AWS resource that exists already and is not ours.
// +kubebuilder:validation:Enum=Never;Adopt
type AdoptionPolicy string

// The adoption policies.
const (
	AdoptionNever AdoptionPolicy = "Never"
	AdoptionAdopt AdoptionPolicy = "Adopt"
)

// ManagementPolicy says whether Portico may change the AWS resource.
// +kubebuilder:validation:Enum=Manage;Observe
type ManagementPolicy string

// The management policies.
const (
	ManagementManage  ManagementPolicy = "Manage"
	ManagementObserve ManagementPolicy = "Observe"
)

// TagValue is the value of an AWS tag.
// +kubebuilder:validation:MaxLength=256
type TagValue string

// Tags are AWS tags, key to value. Portico adds its own ownership tags (portico.dev/…) and leaves
// tags that others put on the resource alone. Each field bounds their number, without which the API server takes no
// rule about every one.
// +kubebuilder:validation:XValidation:rule="self.all(k, size(k) >= 1 && size(k) <= 128)",message="a tag key has 1 to 128 characters"
// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.lowerAscii().startsWith('aws:'))",message="tag keys that start with aws: are reserved by AWS; choose another key"
// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.lowerAscii().startsWith('portico.dev/'))",message="tag keys that start with portico.dev/ are reserved by Portico; choose another key"
type Tags map[string]TagValue

// AWSSpec is what every AWS kind lets its owner say.
type AWSSpec struct {
	// providerRef names the AWSProvider, and with it the account, that holds the resource. Immutable once it is
	// created.
	// +required
	ProviderRef LocalRef `json:"providerRef"`
	// region overrides the provider's region, within the regions that the provider allows. Immutable once it is
	// created.
	// +kubebuilder:validation:Pattern=`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`
	// +kubebuilder:validation:MaxLength=32
	// +optional
	Region string `json:"region,omitempty"`
	// adoptionPolicy Adopt takes over an existing AWS resource of this name, but only one that carries the
	// tag portico.dev/adopt=<namespace>/<name>, which somebody with access to AWS must have set.
	// +kubebuilder:default=Never
	// +optional
	AdoptionPolicy AdoptionPolicy `json:"adoptionPolicy,omitempty"`
	// managementPolicy Observe only reads: nothing is created, changed or deleted in AWS. It shows the object's own
	// resource, or one that AWS admins share with the namespace by the tag portico.dev/namespace.
	// +kubebuilder:default=Manage
	// +optional
	ManagementPolicy ManagementPolicy `json:"managementPolicy,omitempty"`
}

// Binding names the Secret that holds what an application needs to use the resource.
type Binding struct {
	// name of the Secret, in the object's namespace (Service Binding convention).
	Name string `json:"name"`
	// resourceVersion of the Secret, so that consumers notice a change.
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// keys of the Secret, sorted.
	// +optional
	// +listType=atomic
	Keys []string `json:"keys,omitempty"`
}

// AWSStatus is what every AWS kind reports.
type AWSStatus struct {
	CommonStatus `json:",inline"`
	// arn is the resource's Amazon Resource Name; empty until Portico has created or taken the resource.
	// +optional
	ARN string `json:"arn,omitempty"`
	// region that holds the resource.
	// +optional
	Region string `json:"region,omitempty"`
	// accountID of the AWS account that holds the resource.
	// +optional
	AccountID string `json:"accountID,omitempty"`
	// lastSyncTime is when Portico last changed the AWS resource or saw it changed; not every check.
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`
	// binding names the Secret with the connection details.
	// +optional
	Binding *Binding `json:"binding,omitempty"`
	// managedFields are the spec paths that Portico manages in AWS, sorted: those that it has written, or found as the
	// spec asks. One that is removed from the spec returns to AWS's default once, and then leaves this list.
	// +optional
	// +listType=set
	ManagedFields []string `json:"managedFields,omitempty"`
	// pendingFields are spec paths that Portico is to write for the first time: while it does not know whether it has,
	// what AWS had before, as a digest; unwritten, while every try was refused. They are not managed.
	// +optional
	PendingFields map[string]string `json:"pendingFields,omitempty"`
	// syncedGeneration is the generation of the spec that everything but unappliedFields was last found to be as it
	// asks.
	// +optional
	SyncedGeneration int64 `json:"syncedGeneration,omitempty"`
	// unappliedFields are the spec paths that AWS refuses or does not take yet, sorted.
	// +optional
	// +listType=set
	UnappliedFields []string `json:"unappliedFields,omitempty"`
	// safeFields are the spec paths of security settings that Portico keeps at the safe value while the spec does not
	// say otherwise, sorted: of what it has made, of what the spec has declared, and, unless adoptionPolicy is Adopt,
	// of what was found to be safe.
	// +optional
	// +listType=set
	SafeFields []string `json:"safeFields,omitempty"`
	// providerGeneration is the generation of the AWSProvider that the resource was last brought in line with.
	// +optional
	ProviderGeneration int64 `json:"providerGeneration,omitempty"`
	// recreations counts acknowledged re-creations after a deletion outside Portico.
	// +optional
	Recreations int64 `json:"recreations,omitempty"`
}
