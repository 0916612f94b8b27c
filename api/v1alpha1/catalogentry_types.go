package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Conditions and reasons of CatalogEntries.
const (
	// ReasonNoDefinition is the reason of an entry whose CRD, or whose version of it, does not exist.
	ReasonNoDefinition = "NoDefinition"
	// ReasonNotConfirmed is the reason of an entry whose kind has powers that no admin has confirmed.
	ReasonNotConfirmed = "NotConfirmed"
	// ReasonFieldsMissing is the reason of an entry that names fields that the CRD does not have.
	ReasonFieldsMissing = "FieldsMissing"
)

// CatalogEntrySpec describes a kind to the portal, the REST API, the command line and the operator.
type CatalogEntrySpec struct {
	// definition names the custom resource definition of the kind, and the version of it that people use.
	// +required
	Definition CatalogDefinition `json:"definition"`
	// title of one object of the kind, for people, such as Bucket.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[A-Z0-9][-A-Za-z0-9 ]*$`
	// +required
	Title string `json:"title"`
	// icon is the name of a picture. A name that the portal does not know gets its picture of no special kind.
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +optional
	Icon string `json:"icon,omitempty"`
	// description says what the kind is, in a sentence. The default is the description in the definition.
	// +kubebuilder:validation:MaxLength=1000
	// +optional
	Description string `json:"description,omitempty"`
	// writers are who creates objects of the kind. Objects of a kind that Admins or Portico write are read-only for
	// teams.
	// +kubebuilder:default=Teams
	// +optional
	Writers CatalogWriters `json:"writers,omitempty"`
	// hidden takes the kind out of the catalog for everybody. Its objects stay as they are.
	// +optional
	Hidden bool `json:"hidden,omitempty"`
	// controller is what keeps the objects of the kind, if Portico does not.
	// +optional
	Controller *CatalogController `json:"controller,omitempty"`
	// verbs are what people can do with objects of the kind through Portico, if their own rights allow it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=7
	// +kubebuilder:default={"get","list","watch","create","update","patch","delete"}
	// +listType=set
	// +optional
	Verbs []CatalogVerb `json:"verbs,omitempty"`
	// confirmed are the powers that the controller of the kind uses for the people who write objects, and that an
	// admin has accepted. The status names those that are missing.
	// +kubebuilder:validation:MaxItems=8
	// +listType=set
	// +optional
	Confirmed []CatalogPower `json:"confirmed,omitempty"`
	// form says how the form of the kind looks. Fields that it does not name come last, on demand.
	// +optional
	Form CatalogForm `json:"form,omitempty,omitzero"`
	// references are the fields by which objects of the kind refer to other objects of their namespace.
	// +kubebuilder:validation:MaxItems=30
	// +listType=atomic
	// +optional
	References []CatalogReference `json:"references,omitempty"`
	// page says what lists and the page of an object show.
	// +optional
	Page CatalogPage `json:"page,omitempty,omitzero"`
	// states say when an object is ready or has failed, for a kind whose conditions do not follow kstatus.
	// +optional
	States *CatalogStates `json:"states,omitempty"`
	// changes are the effects of changing fields, for the review of a change.
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +optional
	Changes []CatalogChange `json:"changes,omitempty"`
	// deletion says what deleting an object does.
	// +optional
	Deletion CatalogDeletion `json:"deletion,omitempty,omitzero"`
}

// CatalogDefinition names a version of a custom resource definition.
type CatalogDefinition struct {
	// group of the kind, such as s3.services.k8s.aws.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=190
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Group string `json:"group"`
	// resource is the plural name of the kind, such as buckets.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Resource string `json:"resource"`
	// version that people use, such as v1alpha1. The definition must serve it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Version string `json:"version"`
}

// CatalogWriters are who creates objects of a kind.
// +kubebuilder:validation:Enum=Teams;Admins;Portico
type CatalogWriters string

// The writers.
const (
	WritersTeams   CatalogWriters = "Teams"
	WritersAdmins  CatalogWriters = "Admins"
	WritersPortico CatalogWriters = "Portico" // only the operator
)

// CatalogVerb is what can be done with objects.
// +kubebuilder:validation:Enum=get;list;watch;create;update;patch;delete
type CatalogVerb string

// CatalogController is a controller that is not Portico's.
type CatalogController struct {
	// name for people, such as ACK's controller for S3.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +required
	Name string `json:"name"`
	// documentation is the https URL of a page about the kind.
	// +kubebuilder:validation:MaxLength=500
	// +kubebuilder:validation:XValidation:rule="self == '' || isURL(self) && url(self).getScheme() == 'https'",message="must be an https URL"
	// +optional
	Documentation string `json:"documentation,omitempty"`
}

// CatalogPower is something that a controller makes for the writer of an object, beyond what the writer can make.
// +kubebuilder:validation:Enum=Pods;Secrets;RBAC;Policies;Objects;Unknown
type CatalogPower string

// The powers.
const (
	PowerPods     CatalogPower = "Pods"     // Pods with fields that the writer sets
	PowerSecrets  CatalogPower = "Secrets"  // Secrets, or reads of Secrets that the writer names
	PowerRBAC     CatalogPower = "RBAC"     // roles and bindings
	PowerPolicies CatalogPower = "Policies" // admission or network policies
	PowerObjects  CatalogPower = "Objects"  // objects of any kind, from templates or sources
	PowerUnknown  CatalogPower = "Unknown"  // Portico does not know the group: it could be any of them
)

// CatalogEntryStatus says whether the kind is offered.
type CatalogEntryStatus struct {
	CommonStatus `json:",inline"`
	// kind of the objects, such as Bucket.
	// +optional
	Kind string `json:"kind,omitempty"`
	// missing are the fields that the entry names and that the definition does not have.
	// +listType=set
	// +optional
	Missing []string `json:"missing,omitempty"`
	// powers are those of the kind's controller; the entry is not offered before the entry confirms all.
	// +listType=set
	// +optional
	Powers []CatalogPower `json:"powers,omitempty"`
	// definitionVersion is the resource version of the definition that was looked at.
	// +optional
	DefinitionVersion string `json:"definitionVersion,omitempty"`
	// schema is the SHA-256 hash of the version's schema.
	// +optional
	Schema string `json:"schema,omitempty"`
}

// CatalogEntry describes a kind of the cluster to the portal, the REST API and the command line, which offer no kind
// without one. The entries of Portico's own kinds come with it: the operator writes them, and others change only
// hidden.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=catalogentries,scope=Cluster,shortName=ce,categories=portico-admin
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.definition.resource + '.' + self.spec.definition.group",message="the name must be that of the custom resource definition: the resource, a dot, and the group"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.controller) == (self.spec.definition.group == 'portico.dev' || self.spec.definition.group.endsWith('.portico.dev'))",message="spec.controller.name is needed for kinds that are not Portico's, and only for them: pages say who keeps an object",fieldPath=".spec.controller"
// +kubebuilder:printcolumn:name="Title",type=string,JSONPath=`.spec.title`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.definition.version`
// +kubebuilder:printcolumn:name="Writers",type=string,JSONPath=`.spec.writers`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type CatalogEntry struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec describes the kind.
	// +required
	Spec CatalogEntrySpec `json:"spec"`
	// status says whether the kind is offered.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status CatalogEntryStatus `json:"status,omitempty"`
}
