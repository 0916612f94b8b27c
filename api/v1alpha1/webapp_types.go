package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Annotations of a WebApp.
const (
	// AnnotationRestartRequestedAt replaces the Pods one after the other; any new value counts.
	AnnotationRestartRequestedAt = "portico.dev/restart-requested-at"
	// AnnotationRollback sets spec.image to that of an earlier revision: a number of status.revisions, or previous. It
	// is taken away when it has been done.
	AnnotationRollback = "portico.dev/rollback"
	// RollbackPrevious is the value of AnnotationRollback for the last revision with another image.
	RollbackPrevious = "previous"
)

// Steps of a WebApp, in order; each is the type of a condition.
const (
	StepServiceAccount   = "ServiceAccountReady"
	StepService          = "ServiceReady"
	StepDisruptionBudget = "DisruptionBudgetReady"
	StepRoute            = "RouteReady"
	StepBindings         = "BindingsReady"
	StepDeployment       = "DeploymentReady"
	StepScaled           = "Scaled"
	StepAutoscaler       = "AutoscalerReady"
	StepRolledOut        = "RolledOut"
	StepExposed          = "Exposed"
)

// Condition types of a WebApp beside its steps; they mean what they mean for a Deployment.
const (
	// ConditionAvailable is True while as many Pods serve as must at least.
	ConditionAvailable = "Available"
	// ConditionProgressing is True while a rollout moves and when it is complete, and False when it hangs.
	ConditionProgressing = "Progressing"
	// ConditionAWSAccess tells whether the application has the rights in AWS that its bindings speak of. It is there if
	// one of them speaks of any, and says nothing about Ready: the application runs without.
	ConditionAWSAccess = "AWSAccess"
)

// LabelWebApp is on everything that runs for a WebApp; its value is the WebApp's name.
const LabelWebApp = "portico.dev/webapp"

// WebAppStatus is what runs.
type WebAppStatus struct {
	CommonStatus `json:",inline"`
	// replicas is how many Pods there are, of all versions.
	// +optional
	Replicas int32 `json:"replicas"`
	// updatedReplicas is how many Pods run as the spec asks.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas"`
	// availableReplicas is how many Pods serve, of all versions.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`
	// availability is availableReplicas of those wanted, such as 2/3.
	// +optional
	Availability string `json:"availability,omitempty"`
	// selector of the Pods, for kubectl scale and autoscalers.
	// +optional
	Selector string `json:"selector,omitempty"`
	// url where the application answers.
	// +optional
	URL string `json:"url,omitempty"`
	// image that serves now: that of the newest version with a Pod that is available. Empty while there is none.
	// +optional
	Image string `json:"image,omitempty"`
	// revisions of the application that the cluster keeps, newest first.
	// +optional
	// +listType=map
	// +listMapKey=revision
	Revisions []WebAppRevision `json:"revisions,omitempty"`
	// bindings are the connection details that the Pods are given.
	// +optional
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	Bindings []WebAppBound `json:"bindings,omitempty"`
	// accessPolicy is the IAM policy that allows the application what its bindings say, and nothing else. Portico
	// attaches it to nothing: it is for the role of spec.identity. Empty, if no binding gives rights in AWS.
	// +optional
	AccessPolicy string `json:"accessPolicy,omitempty"`
}

// WebAppRevision is one version of the application's Pods.
type WebAppRevision struct {
	// revision counts the versions.
	Revision int64 `json:"revision"`
	// image of the version.
	Image string `json:"image"`
	// created is when the version was first rolled out.
	Created metav1.Time `json:"created"`
	// available is how many of its Pods serve.
	Available int32 `json:"available"`
	// neverAvailable is true while none of its Pods has served: there is nothing to go back to.
	// +optional
	NeverAvailable bool `json:"neverAvailable,omitempty"`
}

// NeverServed reports whether there are versions with the image, and no replica of any of them ever became available.
func (s *WebAppStatus) NeverServed(image string) bool {
	known := false
	for i := range s.Revisions {
		if r := &s.Revisions[i]; r.Image == image {
			known = true
			if !r.NeverAvailable {
				return false
			}
		}
	}
	return known
}

// WebAppBound are connection details in use.
type WebAppBound struct {
	// kind of the resource.
	Kind string `json:"kind"`
	// name of the resource.
	Name string `json:"name"`
	// secret with the details.
	Secret string `json:"secret"`
	// resourceVersion of the Secret.
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// variables of the Pods that hold the details.
	// +optional
	// +listType=atomic
	Variables []string `json:"variables,omitempty"`
	// folder of the Pods that holds the details as files, one a key.
	// +optional
	Folder string `json:"folder,omitempty"`
	// user of a database that the details are of: Own or Master.
	// +optional
	User BindingUser `json:"user,omitempty"`
}

// WebApp runs a container image: it is kept running, rolled out without a gap, scaled, and given the connection details
// of the resources that it uses.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=wa,categories=portico
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="the name becomes a DNS name: at most 52 lower-case letters, digits and hyphens, a letter in front and no hyphen at the end"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.availability`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Serving",type=string,JSONPath=`.status.image`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
type WebApp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the application that the team wants.
	// +required
	Spec WebAppSpec `json:"spec"`
	// status is what runs.
	// +kubebuilder:default={"observedGeneration":-1,"replicas":0,"updatedReplicas":0,"availableReplicas":0}
	// +optional
	Status WebAppStatus `json:"status,omitempty"`
}
