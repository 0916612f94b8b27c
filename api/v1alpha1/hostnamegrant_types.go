package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// HostnameGrantName is the name of the one HostnameGrant that a namespace may have: admission looks it up by name.
const HostnameGrantName = "hostnames"

// HostnameGrantSpec is what the teams of the namespace may ask for. What is left out of zones, visibilities or
// environments allows all of them.
type HostnameGrantSpec struct {
	// suffixes under which hostnames are allowed: shop.example.com allows shop.example.com and every name below it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=3
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +listType=set
	// +required
	Suffixes []string `json:"suffixes"`
	// wildcards allows names such as *.shop.example.com; the suffix then counts for what follows the asterisk.
	// +optional
	Wildcards bool `json:"wildcards,omitempty"`
	// zones are the Route 53 hosted zones that may be used.
	// +kubebuilder:validation:MaxItems=64
	// +listType=set
	// +optional
	Zones []HostedZoneID `json:"zones,omitempty"`
	// visibilities that are allowed.
	// +kubebuilder:validation:MaxItems=2
	// +listType=set
	// +optional
	Visibilities []Visibility `json:"visibilities,omitempty"`
	// environments that are allowed.
	// +kubebuilder:validation:MaxItems=3
	// +listType=set
	// +optional
	Environments []Environment `json:"environments,omitempty"`
}

// HostnameGrantStatus lists what is in use.
type HostnameGrantStatus struct {
	CommonStatus `json:",inline"`
	// hostnames is how many the namespace has claimed.
	// +optional
	Hostnames int32 `json:"hostnames"`
	// inUse are the hostnames that the namespace has claimed, sorted; the first 100.
	// +optional
	// +listType=atomic
	InUse []string `json:"inUse,omitempty"`
}

// HostnameGrant is what hostnames a namespace may ask for, and route. Platform admins give it; without one, none.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=hg,categories=portico
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'hostnames'",message="a namespace has one HostnameGrant, and its name is hostnames"
// +kubebuilder:printcolumn:name="Suffixes",type=string,JSONPath=`.spec.suffixes`
// +kubebuilder:printcolumn:name="Wildcards",type=boolean,JSONPath=`.spec.wildcards`
// +kubebuilder:printcolumn:name="Hostnames",type=integer,JSONPath=`.status.hostnames`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Environments",type=string,JSONPath=`.spec.environments`,priority=1
// +kubebuilder:printcolumn:name="Visibilities",type=string,JSONPath=`.spec.visibilities`,priority=1
// +kubebuilder:metadata:annotations="portico.dev/title=Hostname grant"
// +kubebuilder:metadata:annotations="portico.dev/icon=hostname"
// +kubebuilder:metadata:annotations="portico.dev/form=suffixes,wildcards,zones,visibilities,environments"
// +kubebuilder:metadata:annotations="portico.dev/endpoint=.spec.suffixes"
// +kubebuilder:metadata:annotations="portico.dev/kept-by=admins"
// +kubebuilder:metadata:annotations="portico.dev/deleted-effect=The namespace can ask for no new hostnames, and new routes with hostnames are refused. Hostnames that it has stay, and say that they are not granted any more."
type HostnameGrant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the teams of the namespace may ask for.
	// +required
	Spec HostnameGrantSpec `json:"spec"`
	// status lists what is in use.
	// +kubebuilder:default={"observedGeneration":-1,"hostnames":0}
	// +optional
	Status HostnameGrantStatus `json:"status,omitempty"`
}

// Common returns the part of the status that every kind shares.
func (g *HostnameGrant) Common() *CommonStatus { return &g.Status.CommonStatus }

// HostnameGrantList is a list of HostnameGrants.
// +kubebuilder:object:root=true
type HostnameGrantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HostnameGrant `json:"items"`
}
