package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Annotations that users, tools and admission set on any kind.
const (
	// AnnotationPaused, when "true", stops all work on the object; deletion still runs.
	AnnotationPaused = "portico.dev/paused"
	// AnnotationReconcileRequestedAt asks for one reconcile now; any new value counts.
	AnnotationReconcileRequestedAt = "portico.dev/reconcile-requested-at"
	// AnnotationAcknowledgeRecreate allows one re-creation of a resource that was
	// deleted outside Portico; its value is the number that the condition names.
	AnnotationAcknowledgeRecreate = "portico.dev/acknowledge-recreate"
	// AnnotationAuditInterval is how often this AWS resource is compared in full, as a duration of at least a minute,
	// such as 10m; it takes the place of the operator's --audit-interval.
	AnnotationAuditInterval = "portico.dev/audit-interval"
	// AnnotationRotatePassword asks for a new password of a database; any new value counts.
	AnnotationRotatePassword = "portico.dev/rotate-password" //nolint:gosec // an annotation, no password
	// AnnotationRequestedBy names who asked for the object; admission writes it.
	AnnotationRequestedBy = "portico.dev/requested-by"
	// AnnotationDeletionProtection, when "true", has a deletion confirmed first, whatever the kind.
	AnnotationDeletionProtection = "portico.dev/deletion-protection"
	// AnnotationConfirmDeletion confirms a deletion; its value is the object's name. It does not outlive an edit of the
	// spec.
	AnnotationConfirmDeletion = "portico.dev/confirm-deletion"
	// AnnotationKeep, when "true" on an object of an AWS kind that is being deleted, has the resource kept and the
	// object made again.
	AnnotationKeep = "portico.dev/keep"
	// AnnotationKeptFrom is the UID of the object in whose place this one was made, as AnnotationKeep asked for.
	AnnotationKeptFrom = "portico.dev/kept-from"
	// AnnotationKeptFor on a Secret is the UID of the object that it belonged to until that was kept: the new one takes
	// it up.
	AnnotationKeptFor = "portico.dev/kept-for"
	// AnnotationFormerUID names the UIDs that a Namespace had in clusters that are lost, separated by commas, or the
	// one under which a GatewayHostnameRequest got its hostname there. Only those who can restore a backup can set it.
	AnnotationFormerUID = "portico.dev/former-uid"
)

// A Secret of the operator's namespace is read for an AWSProvider only if it carries this label with this value: the
// namespace holds others, which no provider may send anywhere.
const (
	LabelSecretType          = "portico.dev/secret-type" //nolint:gosec // a label's key, no credentials
	SecretTypeAWSCredentials = "aws-credentials"
)

// Labels and annotations of namespaces, which decide what a team can do. Admission keeps them to the operator and to
// people who can create Teams.
const (
	// LabelTeam names the team that the namespace belongs to.
	LabelTeam = "portico.dev/team"
	// LabelAWS with the value AWSAllowed says that the namespace is for resources in AWS; AWSProviders select by it.
	LabelAWS   = "portico.dev/aws"
	AWSAllowed = "allowed"
	// LabelEnvironment names the environment that the namespace is for.
	LabelEnvironment = "portico.dev/environment"
	// LabelConfirmDeletion says whether deletions in the namespace are confirmed; see ConfirmRequired.
	LabelConfirmDeletion = "portico.dev/confirm-deletion"
	// AnnotationTeamUID is the UID of the Team that keeps the namespace.
	AnnotationTeamUID = "portico.dev/team-uid"
	// AnnotationCreatedForTeam on a namespace names the Team that it was created for.
	AnnotationCreatedForTeam = "portico.dev/created-for-team"
	// AnnotationDefaultProvider on a namespace names the AWSProvider of resources that name none.
	AnnotationDefaultProvider = "portico.dev/default-provider"
	// AnnotationGuardrails on a namespace of a team has what the Team lets it request, for admission: see package
	// guardrails.
	AnnotationGuardrails = "portico.dev/guardrails"
)

// LabelConfirmDeletion with these values says whether deletions in the namespace are confirmed: all, or only those of
// objects that are protected themselves. Without it, those of kinds that hold data, and of hostnames of production.
const (
	ConfirmRequired = "required"
	ConfirmOptional = "optional"
)

// Condition types that every kind shares; they follow kstatus.
const (
	ConditionReady       = "Ready"
	ConditionReconciling = "Reconciling"
	ConditionStalled     = "Stalled"
	ConditionPaused      = "Paused"
)

// ReasonDeleting is the Ready condition's reason while AWS deletes the resource: nothing stops that.
const ReasonDeleting = "Deleting"

// CommonStatus is what the engine writes for every kind.
type CommonStatus struct {
	// observedGeneration is the metadata.generation that the rest of the status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ready is true while the Ready condition is True.
	// +optional
	Ready bool `json:"ready,omitempty"`
	// firstReadyTime is when the object was Ready for the first time.
	// +optional
	FirstReadyTime *metav1.Time `json:"firstReadyTime,omitempty"`
	// conditions are the progress of the resource: Ready, and while they hold Reconciling, Stalled and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// usedBy names the objects of the namespace whose spec names this one, sorted: at most 20. While there are any, the
	// object cannot be deleted.
	// +optional
	// +listType=atomic
	UsedBy []ObjectRef `json:"usedBy,omitempty"`
	// moreUsers counts those that usedBy has no room for.
	// +optional
	MoreUsers int32 `json:"moreUsers,omitempty"`
	// requestedRun is the run of a pipeline that requested the object, for one that a deployer requested.
	// +optional
	RequestedRun string `json:"requestedRun,omitempty"`
	// recordedGeneration is the last metadata.generation that the history of the object was asked to have.
	// +optional
	RecordedGeneration int64 `json:"recordedGeneration,omitempty"`
}

// LocalRef names an object; of a namespaced kind, one in the same namespace.
type LocalRef struct {
	// name of the object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`
}

// SecretKeyRef names one key of a Secret.
type SecretKeyRef struct {
	// name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`
	// key within the Secret's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Key string `json:"key"`
}

// ConfigMapKeyRef names one key of a ConfigMap.
type ConfigMapKeyRef struct {
	// name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	// +required
	Name string `json:"name"`
	// key within the ConfigMap's data.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Key string `json:"key"`
}
