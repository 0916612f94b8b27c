package v1alpha1

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
	// zones are the Route 53 hosted zones that can be used.
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
	// gatewayClasses that requests can name; ["*"] allows every class of the AWS Load Balancer Controller. Left out,
	// requests name none and get the platform's own.
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	// +optional
	GatewayClasses []string `json:"gatewayClasses,omitempty"`
	// maxHostnames that the namespace can have at a time.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +kubebuilder:default=20
	// +optional
	MaxHostnames int32 `json:"maxHostnames,omitempty"`
	// maxRules is how many load balancer rules the routes of one hostname can have together: one for each match of a
	// route. A load balancer has 100 for all hostnames on it. A higher number counts for hostnames that are there as
	// soon as their load balancer has room, a lower one for new hostnames.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=70
	// +kubebuilder:default=3
	// +optional
	MaxRules int32 `json:"maxRules,omitempty"`
	// maxTargetGroups is how many target groups the routes of one hostname can have together: one for each port of a
	// Service that they lead to. A load balancer has 100 for all hostnames on it. Higher and lower numbers count as
	// those of maxRules do.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=70
	// +kubebuilder:default=4
	// +optional
	MaxTargetGroups int32 `json:"maxTargetGroups,omitempty"`
}

// What a HostnameGrant gives that says nothing else; the CRD has the same defaults.
const (
	DefaultMaxHostnames    = 20
	DefaultMaxRules        = 3
	DefaultMaxTargetGroups = 4
)

// AnyGatewayClass in gatewayClasses stands for every class.
const AnyGatewayClass = "*"

// Budget returns what one hostname of the namespace can use of its load balancer.
func (s HostnameGrantSpec) Budget() LoadBalancerBudget {
	return LoadBalancerBudget{
		Rules: cmp.Or(s.MaxRules, DefaultMaxRules), TargetGroups: cmp.Or(s.MaxTargetGroups, DefaultMaxTargetGroups),
	}
}

// LoadBalancerBudget is what one hostname can use, or uses, of the load balancer that it shares.
type LoadBalancerBudget struct {
	// rules of the load balancer: one for each match of a route.
	// +optional
	Rules int32 `json:"rules,omitempty"`
	// targetGroups of the load balancer: one for each port of a Service.
	// +optional
	TargetGroups int32 `json:"targetGroups,omitempty"`
}

// Within reports whether b exceeds most in nothing.
func (b LoadBalancerBudget) Within(most LoadBalancerBudget) bool {
	return b.Rules <= most.Rules && b.TargetGroups <= most.TargetGroups
}

// Max returns the larger of each.
func (b LoadBalancerBudget) Max(other LoadBalancerBudget) LoadBalancerBudget {
	return LoadBalancerBudget{Rules: max(b.Rules, other.Rules), TargetGroups: max(b.TargetGroups, other.TargetGroups)}
}

// Least returns the smaller of each.
func (b LoadBalancerBudget) Least(other LoadBalancerBudget) LoadBalancerBudget {
	return LoadBalancerBudget{Rules: min(b.Rules, other.Rules), TargetGroups: min(b.TargetGroups, other.TargetGroups)}
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
	// certificatesPacedTo is a moment in time that each certificate of a new hostname moves on by 12 hours. The further
	// it lies ahead, the more the namespace has requested lately; maxHostnames at once are possible.
	// +optional
	CertificatesPacedTo *metav1.Time `json:"certificatesPacedTo,omitempty"`
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
// +kubebuilder:printcolumn:name="Max",type=integer,JSONPath=`.spec.maxHostnames`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Environments",type=string,JSONPath=`.spec.environments`,priority=1
// +kubebuilder:printcolumn:name="Visibilities",type=string,JSONPath=`.spec.visibilities`,priority=1
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
