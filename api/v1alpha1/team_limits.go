package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// TeamQuotas limit what each namespace of the team can hold; they become its ResourceQuota.
type TeamQuotas struct {
	// resources of Portico, by kind.
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=kind
	// +optional
	Resources []KindQuota `json:"resources,omitempty"`
	// cpu that all Pods can request together, such as 20 or 500m.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=64
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`
	// memory that all Pods can request together, such as 64Gi.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
	// storage that all volumes can request together, such as 500Gi.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Storage *resource.Quantity `json:"storage,omitempty"`
	// pods at a time.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Pods *int32 `json:"pods,omitempty"`
}

// KindQuota is how many resources of one kind there can be.
type KindQuota struct {
	// kind of the resources.
	// +required
	Kind RequestableKind `json:"kind"`
	// max is how many there can be.
	// +kubebuilder:validation:Minimum=0
	// +required
	Max int32 `json:"max"`
}

// PodSecurityLevel is a level of the Pod Security Standards.
// +kubebuilder:validation:Enum=Restricted;Baseline;Privileged
type PodSecurityLevel string

// NetworkIsolation says whom the Pods of a team can reach, and who can reach them.
// +kubebuilder:validation:Enum=Team;Open
type NetworkIsolation string

// Whom Pods can reach.
const (
	// NetworkTeam lets them talk to Pods of the same team, to DNS, and to the addresses that the team lists.
	NetworkTeam NetworkIsolation = "Team"
	// NetworkOpen limits nothing.
	NetworkOpen NetworkIsolation = "Open"
)

// TeamIsolation keeps the team's Pods apart from those of others.
type TeamIsolation struct {
	// network Team lets Pods talk to Pods of the same team, to DNS, and to the addresses of allowTo and allowFrom, and
	// to nothing else; Open limits nothing. The cluster's network plugin must implement NetworkPolicy.
	// +kubebuilder:default=Team
	// +optional
	Network NetworkIsolation `json:"network,omitempty"`
	// allowTo are the addresses outside of the team that its Pods can reach, as CIDRs. The default is every address of
	// the internet, and with it AWS, without private networks: list the network of your databases.
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",message="must be a network such as 10.0.0.0/16"
	// +listType=set
	// +optional
	AllowTo []string `json:"allowTo,omitempty"`
	// allowFrom are the addresses outside of the team that can reach its Pods, as CIDRs. Load balancers of hostnames
	// need those of their subnets.
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",message="must be a network such as 10.0.0.0/16"
	// +listType=set
	// +optional
	AllowFrom []string `json:"allowFrom,omitempty"`
	// podSecurity is the level of the Pod Security Standards that Pods must keep to.
	// +kubebuilder:default=Restricted
	// +optional
	PodSecurity PodSecurityLevel `json:"podSecurity,omitempty"`
	// containers are the limits of single containers; they become the LimitRange of each namespace.
	// +optional
	Containers *ContainerLimits `json:"containers,omitempty"`
}

// ContainerLimits are what a container gets that says nothing, and the most that one can have.
type ContainerLimits struct {
	// defaultRequest is what a container requests if it says nothing.
	// +optional
	DefaultRequest *CPUAndMemory `json:"defaultRequest,omitempty"`
	// default is the limit of a container that sets none.
	// +optional
	Default *CPUAndMemory `json:"default,omitempty"`
	// max is the highest limit that a container can have.
	// +optional
	Max *CPUAndMemory `json:"max,omitempty"`
}

// CPUAndMemory are amounts of both.
type CPUAndMemory struct {
	// cpu in cores, such as 500m.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=64
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`
	// memory in bytes, such as 256Mi.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
}
