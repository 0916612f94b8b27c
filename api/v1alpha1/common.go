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
	// AnnotationAuditInterval is how often this AWS resource is compared in full, as a duration of at least a minute, such
	// as 10m; it takes the place of the operator's --audit-interval.
	AnnotationAuditInterval = "portico.dev/audit-interval"
	// AnnotationRotatePassword asks for a new password of a database; any new value counts.
	AnnotationRotatePassword = "portico.dev/rotate-password" //nolint:gosec // an annotation, no password
	// AnnotationRequestedBy names who asked for the object; admission writes it.
	AnnotationRequestedBy = "portico.dev/requested-by"
	// AnnotationFormerUID names the UIDs that a Namespace had in clusters that are lost, separated by commas, or the one
	// under which a GatewayHostnameRequest got its hostname there. Admission keeps it to whoever may restore.
	AnnotationFormerUID = "portico.dev/former-uid"
)

// A Secret of the operator's namespace is read for an AWSProvider only if it carries this label with this value: the
// namespace holds others, which no provider may send anywhere.
const (
	LabelSecretType          = "portico.dev/secret-type" //nolint:gosec // a label's key, no credentials
	SecretTypeAWSCredentials = "aws-credentials"
)

// LabelTeam on a namespace, with any value, says that it is a team's, before anybody has a role or a resource in it.
const LabelTeam = "portico.dev/team"

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
	// conditions say how far the object is: Ready, and while they hold Reconciling, Stalled and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
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
